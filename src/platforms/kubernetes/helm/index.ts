import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { sharedAnswers } from '../../../core/answers.ts'
import type { ProgramResult } from '../../../adapters/process.ts'
import { YamlError, parseYaml } from '../../../adapters/yaml/index.ts'
import type { HelmRun, ReleaseControl } from '../../../core/controls.ts'
import { AdminError } from '../../../core/error.ts'
import { isObject } from '../../../core/shape.ts'
import type { ReleaseChart, ReleaseRevision, ReleaseSource, ReleaseUpgrade, Values } from '../../../core/sources.ts'
import { typed } from '../../../core/typed.ts'
import type { WantedValue } from '../../../core/values.ts'
import type { PlatformOptions } from '../../platform.ts'
import type { KubernetesClient } from '../client.ts'
import { releaseOf } from '../find.ts'
import type { Workload } from '../objects.ts'
import { livesHere } from '../../../adapters/process-identity.ts'
import type { KubernetesSettings } from '../access.ts'
import { conflictsIn } from './conflicts.ts'
import { helmAt, helmFailure } from './program.ts'
import type { Attempt } from './program.ts'
import type { ShellCommand } from '../../../core/shell-command.ts'
import { withoutValues } from '../../../core/redaction/given.ts'
import { withoutSecrets } from '../../../core/redaction/index.ts'
import { isSecretSetting } from '../../../knowledge/settings.ts'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A line of `helm history` */
interface Line {
  revision: number
  updated: string
  status: string
  chart: string
  description: string
}

/**
 * Returns the release that a workload is part of, by helm itself, which knows where it keeps its records. Throws
 * UNAVAILABLE if the workload is part of none.
 */
export function releaseFor(
  client: Pick<KubernetesClient, 'context' | 'kubectl' | 'change'>,
  workload: Workload,
  settings: KubernetesSettings,
  options: PlatformOptions,
): ReleaseSource & ReleaseControl {
  const { annotations = {}, namespace: own = '', name: its } = workload.metadata
  const name = releaseOf(workload) ?? settings.release
  const namespace = annotations['meta.helm.sh/release-namespace'] ?? own
  if (name === null)
    throw new AdminError(
      'UNAVAILABLE',
      `\`${its}\` in namespace \`${namespace}\` is not marked as part of a Helm release`,
      ['helm list --all-namespaces', 'set `kubernetes.release` in the configuration'],
    )
  const program = helmAt({ context: client.context, namespace }, options)
  const target = `release ${name} in namespace ${namespace}`
  const helm = (verb: string, ...words: string[]): ShellCommand =>
    typed(program.words(...verb.split(' '), name, ...words))
  const secrets = new Set<string>()
  const attempt = (verb: Attempt['verb'], chart?: string): Attempt => ({
    verb,
    target,
    helm,
    kubectl: (...words) => client.kubectl('-n', namespace, ...words),
    hide: (text) => without(secrets, text),
    ...(chart !== undefined && { chart }),
  })
  const orThrow = (of: Attempt, result: ProgramResult): string => {
    if (result.exitCode !== 0) throw helmFailure(of, result)
    return result.stdout
  }
  const ask = async (of: Attempt, ...words: string[]): Promise<unknown> => {
    const said = orThrow(of, await program.ask(...words, '-o', 'json'))
    try {
      return JSON.parse(said) as unknown
    } catch (error) {
      throw new AdminError(
        'UNEXPECTED_ANSWER',
        `helm did not print JSON for ${target}`,
        [helm('history', '-o', 'json')],
        { cause: error },
      )
    }
  }
  const known = (values: unknown): Values => {
    const all = isObject(values) ? values : {}
    for (const secret of secretsIn(all)) secrets.add(secret)
    return all
  }
  /** Learns the secrets in values files, which a chart's errors may quote. Helm itself reports unreadable files. */
  const learn = async (files: readonly string[]): Promise<void> => {
    for (const file of files) {
      const text = await readFile(file, 'utf8').catch(() => '')
      try {
        known(parseYaml(text).value)
      } catch (error) {
        if (!(error instanceof YamlError)) throw error
      }
    }
  }
  // the values of a revision never change
  const valuesOf = sharedAnswers({ keep: 'successes' })
  const revisionOf = async ({ revision, updated, status, chart, description }: Line): Promise<ReleaseRevision> => {
    const values = await valuesOf.to(String(revision), async () =>
      ask(attempt('look'), 'get', 'values', name, '--revision', String(revision)).then(known),
    )
    return { revision, status, description, updatedAt: updated, chart: chartIn(chart), values }
  }
  const lines = async (most: number): Promise<Line[]> =>
    (await ask(attempt('look'), 'history', name, '--max', String(most))) as Line[]
  const changed = async (of: Attempt, words: readonly string[], run: HelmRun): Promise<void> => {
    orThrow(of, await program.change([...words, '--timeout', `${Math.ceil(run.timeoutMs / 1000)}s`], run))
  }
  /** Returns what helm would apply, and whether on the server's side: only there are conflicts. */
  const manifestFor = async ({
    values,
    ...upgrade
  }: ReleaseUpgrade & { values: readonly WantedValue[] }): Promise<Manifest> => {
    await learn(upgrade.files)
    return withValuesFile(values, async (file) => {
      const made = await ask(
        attempt('trial', upgrade.chart),
        ...upgradeWords(name, { ...upgrade, files: [...upgrade.files, file] }),
        '--dry-run=server',
      )
      const { manifest, apply_method: method } = made as { manifest?: unknown; apply_method?: unknown }
      return { manifest: typeof manifest === 'string' ? manifest : '', isServerSide: method === serverSide }
    })
  }
  const manifestOf = async (revision: number): Promise<Manifest> => {
    const words = [name, '--revision', String(revision)]
    const { applyMethod } = (await ask(attempt('look'), 'get', 'metadata', ...words)) as { applyMethod?: unknown }
    if (applyMethod !== serverSide) return { manifest: '', isServerSide: false }
    return { manifest: orThrow(attempt('look'), await program.ask('get', 'manifest', ...words)), isServerSide: true }
  }
  return {
    target,
    helm,
    async latest() {
      const last = (await lines(1)).at(-1)
      if (!last) throw new AdminError('UNAVAILABLE', `helm finds no ${target}`, ['helm list --all-namespaces --all'])
      return revisionOf(last)
    },
    async revision(number) {
      const found = (await lines(mostRevisions)).find(({ revision }) => revision === number)
      return found === undefined ? null : revisionOf(found)
    },
    async trial(upgrade) {
      await learn(upgrade.files)
      const made = await ask(attempt('trial', upgrade.chart), ...upgradeWords(name, upgrade), '--dry-run=client')
      const { chart, config } = made as { chart?: { metadata?: Partial<ReleaseChart> }; config?: unknown }
      const { name: of = '', version = '' } = chart?.metadata ?? {}
      return { chart: { name: of, version }, values: known(config) }
    },
    async conflicts(next) {
      try {
        const { manifest, isServerSide } = await ('chart' in next ? manifestFor(next) : manifestOf(next.revision))
        return isServerSide ? await conflictsIn(client, { name, namespace }, manifest) : []
      } catch (error) {
        // what helm would do cannot be told beforehand; helm itself tells it then
        if (error instanceof AdminError && error.code !== 'INTERRUPTED') return []
        throw error
      }
    },
    async upgrade(upgrade, run) {
      await learn(upgrade.files)
      await changed(attempt('upgrade', upgrade.chart), upgradeWords(name, upgrade), run)
    },
    rollback: async (revision, run) => changed(attempt('rollback'), ['rollback', name, String(revision)], run),
    isRunning: livesHere,
  }
}

/** Method that Helm 4 notes for a server-side apply; Helm 3 notes nothing, and merges on its own side */
const serverSide = 'ssa'

interface Manifest {
  manifest: string
  isServerSide: boolean
}

/** Maximum number of revisions: more than helm keeps (`--history-max`), unless it keeps all */
const mostRevisions = 256

function upgradeWords(name: string, { chart, chartVersion, files }: ReleaseUpgrade): string[] {
  return [
    'upgrade',
    name,
    chart,
    '--version',
    chartVersion,
    '--reset-values',
    ...files.flatMap((file) => ['-f', listItem(file)]),
  ]
}

/** Quotes a file as in CSV: helm takes several files in one word, divided by commas. */
function listItem(file: string): string {
  return /[,"]/.test(file) ? `"${file.replaceAll('"', '""')}"` : file
}

/** Splits `testops-5.27.2-rc.1` into name and version; either may contain dashes. */
function chartIn(text: string): ReleaseChart {
  const [, name = text, version = ''] = /^(.+?)-(v?\d+\.\d+\.\d+(?!\d).*)$/s.exec(text) ?? []
  return { name, version }
}

/** Returns the texts of a release's values that are secrets, by the names of their keys or by their own form. */
function secretsIn(values: Values): string[] {
  return within(values, false)
}

function within(value: unknown, isSecret: boolean): string[] {
  if (isObject(value))
    return Object.entries(value).flatMap(([key, it]) => within(it, isSecret || isSecretSetting(screaming(key), '')))
  if (Array.isArray(value)) return value.flatMap((it) => within(it, isSecret))
  if (typeof value !== 'string' && typeof value !== 'number') return []
  const text = String(value)
  return text !== '' && (isSecret || isSecretSetting('', text)) ? [text] : []
}

/** Writes `jwtSecret` as a setting is written: JWT_SECRET. */
function screaming(key: string): string {
  return key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase()
}

/** Removes these secrets from a text, and what looks like one. */
function without(secrets: ReadonlySet<string>, text: string): string {
  return withoutSecrets(withoutValues(text, secrets, { anywhere: 4 }))
}

/**
 * Writes values to a file for helm, and removes it when `work` ends. They may be secrets, and everyone can read an
 * argument.
 */
async function withValuesFile<T>(values: readonly WantedValue[], work: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-helm-'))
  try {
    const file = join(folder, 'values.yaml')
    await writeFile(file, JSON.stringify(values.reduce<Values>((all, { path, to }) => withAt(all, path, to), {})), {
      mode: 0o600,
    })
    return await work(file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function withAt(values: Values, [key = '', ...rest]: readonly string[], to: string | null): Values {
  const below = Object.hasOwn(values, key) ? values[key] : undefined
  const value = rest.length === 0 ? to : withAt(isObject(below) ? below : {}, rest, to)
  return Object.fromEntries([...Object.entries(values).filter(([name]) => name !== key), [key, value]])
}
