import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { oneLine } from '../../../adapters/failure.ts'
import { processName } from '../../../adapters/process-identity.ts'
import type { ProgramResult } from '../../../adapters/process.ts'
import { runProgram } from '../../../adapters/process.ts'
import { once } from '../../../core/answers.ts'
import type { HelmRun } from '../../../core/controls.ts'
import type { ErrorCode } from '../../../core/error.ts'
import { AdminError } from '../../../core/error.ts'
import type { ShellCommand, Suggestion } from '../../../core/shell-command.ts'
import { typed } from '../../../core/typed.ts'
import type { PlatformOptions } from '../../platform.ts'

/** Which cluster helm works on. */
interface HelmPlace {
  /** Context of kubectl; null in a pod of the cluster */
  context: string | null
  namespace: string
}

interface Helm {
  /** Returns the words of a command for this place, as they are typed */
  words(...words: string[]): [string, ...string[]]
  /**
   * Runs helm to look, and returns what it says, whatever its exit code. Throws UNAVAILABLE if helm is missing or too
   * old
   */
  ask(...words: string[]): Promise<ProgramResult>
  /** Runs helm to change something, and returns what it says */
  change(words: readonly string[], run: HelmRun): Promise<ProgramResult>
}

/** Oldest version that is supported, for `--dry-run=client` (helm.sh, "Helm 3.13.0"). */
const oldest = [3, 13] as const
/** Maximum bytes of output: a trial upgrade comes with its chart and all that the chart draws in */
const mostBytes = 50_000_000
/** Milliseconds for helm to note that it was ended */
const graceMs = 30_000

export function helmAt(place: HelmPlace, options: PlatformOptions): Helm {
  const { context, namespace } = place
  const environment = { ...options.environment, ...withoutOtherClusters }
  const words = (...more: string[]): [string, ...string[]] => [
    'helm',
    ...more,
    '-n',
    namespace,
    ...(context === null ? [] : ['--kube-context', context]),
  ]
  const start = async (command: readonly [string, ...string[]]): Promise<ProgramResult> =>
    runProgram(command, { timeoutMs: options.timeoutMs, environment, maxBytes: mostBytes, signal: options.signal })
  const assertThere = once(async () => refuseOld((await start(['helm', 'version', '--short'])).stdout))
  return {
    words,
    async ask(...more) {
      await assertThere()
      return start(words(...more))
    },
    async change(more, { timeoutMs, signal, started }) {
      await assertThere()
      const folder = await mkdtemp(join(tmpdir(), 'testops-admin-helm-'))
      const [out, error] = [join(folder, 'out'), join(folder, 'error')]
      try {
        // into files: if this process is killed, helm still finishes; a closed pipe would end it
        const result = await runProgram(
          ['sh', '-c', 'umask 077; exec "$@" >"$HELM_OUT" 2>"$HELM_ERROR"', 'sh', ...words(...more)],
          {
            timeoutMs: timeoutMs + graceMs,
            environment: { ...environment, HELM_OUT: out, HELM_ERROR: error },
            shown: words(...more),
            signal,
            end: { signal: 'SIGINT', graceMs },
            started: async (pid) => started((await processName(pid)) ?? 'an unnamed process'),
            // a chart named REPOSITORY/NAME must not mean a folder of the operator
            directory: '/',
          },
        )
        const [stdout, stderr] = await Promise.all(
          [out, error].map(async (file) => readFile(file, 'utf8').catch(() => '')),
        )
        return { ...result, stdout: stdout!, stderr: stderr! }
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  }
}

/** Unsets variables that lead helm elsewhere than its flags say, or have it print what it works with. */
const withoutOtherClusters = Object.fromEntries(
  ['APISERVER', 'ASGROUPS', 'ASUSER', 'CAFILE', 'CONTEXT', 'INSECURE_SKIP_TLS_VERIFY', 'TLS_SERVER_NAME', 'TOKEN']
    .map((name) => [`HELM_KUBE${name}`, undefined])
    .concat([
      ['HELM_DEBUG', undefined],
      ['HELM_NAMESPACE', undefined],
    ]),
) as Record<string, undefined>

/** Throws UNAVAILABLE if helm is too old, or does not report its version. */
function refuseOld(said: string): void {
  const [, major, minor] = /v(\d+)\.(\d+)/.exec(said) ?? []
  const version = [Number(major), Number(minor)] as const
  if (version[0] > oldest[0] || (version[0] === oldest[0] && version[1] >= oldest[1])) return
  const which =
    major === undefined
      ? 'helm on this machine does not report its version'
      : `helm on this machine is ${major}.${minor}`
  throw new AdminError('UNAVAILABLE', `${which}, but ${oldest.join('.')} or later is needed`, [
    'helm version',
    'command -v helm',
  ])
}

/** What helm was asked to do, and the commands about its release. */
export interface Attempt {
  verb: 'look' | 'trial' | 'upgrade' | 'rollback'
  /** `release testops in namespace testops` */
  target: string
  chart?: string
  helm: (verb: string, ...words: string[]) => ShellCommand
  kubectl: (...words: string[]) => ShellCommand
  /** Removes secrets from what helm says */
  hide: (text: string) => string
}

interface Reading {
  says: RegExp
  code: ErrorCode
  /** Replaces what helm says; `{said}` stands for that */
  message: string
  next: (attempt: Attempt) => readonly Suggestion[]
}

const history = ({ helm }: Attempt): ShellCommand => helm('history')
const charts = ({ chart = '' }: Attempt): Suggestion[] => [
  'helm repo list',
  ...(/^[\w-]+\/[\w-]+$/.test(chart) ? [typed(['helm', 'search', 'repo', chart, '--versions'])] : []),
  '--chart CHART, or kubernetes.chart in the configuration',
]

/** How to read what helm 3 and 4 say; the first that matches counts. */
const readings: readonly Reading[] = [
  {
    says: /another operation \(install\/upgrade\/rollback\) is in progress/,
    code: 'BUSY',
    message: 'another helm operation is running on {target}, or was killed before it finished',
    next: (of) => [history(of), 'wait until the other operation ends, then try again'],
  },
  {
    says: /context canceled|interrupt/i,
    code: 'INTERRUPTED',
    message: 'helm was interrupted, and recorded {target} as failed',
    next: (of) => [history(of)],
  },
  {
    says: /cluster unreachable|unable to connect to the server/i,
    code: 'UNREACHABLE',
    message: 'helm cannot reach the cluster: {said}',
    next: ({ kubectl }) => [kubectl('version')],
  },
  {
    says: /unauthorized|must be logged in/i,
    code: 'UNAUTHENTICATED',
    message: "the cluster rejects helm's credentials: {said}",
    next: ({ kubectl }) => [kubectl('auth', 'whoami')],
  },
  {
    says: /forbidden/i,
    code: 'FORBIDDEN',
    message: 'helm lacks a permission: {said}',
    next: (of) => [of.kubectl('auth', 'whoami'), history(of)],
  },
  {
    says: /hooks? failed/i,
    code: 'FAILED',
    message: 'a hook of the chart failed for {target}: {said}',
    next: (of) => [of.kubectl('get', 'jobs,pods'), history(of)],
  },
  {
    says: /release: not found|has no deployed releases/,
    code: 'UNAVAILABLE',
    message: 'helm finds no {target}: {said}',
    next: () => ['helm list --all-namespaces --all'],
  },
  {
    says: /conflict/i,
    code: 'FAILED',
    message: 'another program has set fields of {target} that the chart also sets: {said}',
    next: (of) => [history(of), of.kubectl('get', 'deployments', '-o', 'yaml', '--show-managed-fields')],
  },
]

const ofChart: readonly Reading[] = [
  {
    says: new RegExp(
      String.raw`dial tcp|no such host|connection refused|i\/o timeout|x509|cannot be reached|TLS handshake|` +
        'deadline exceeded',
      'i',
    ),
    code: 'UNREACHABLE',
    message: 'the repository of chart {chart} cannot be reached: {said}',
    next: charts,
  },
  {
    says: new RegExp(
      [
        '(?:repo|path|chart|version|manifest)(?:(?!repo|path|chart|version|manifest).)*not found',
        String.raw`no chart (name|version) found|Chart\.yaml file is missing|failed to (download|perform|fetch)`,
        'not a (valid )?chart|unable to detect chart|non-absolute URLs|no such file',
      ].join('|'),
      'i',
    ),
    code: 'UNAVAILABLE',
    message: 'chart {chart} cannot be fetched: {said}',
    next: charts,
  },
]

/** Returns the error that explains how helm ended. */
export function helmFailure(attempt: Attempt, result: ProgramResult): AdminError {
  const { verb, target, chart = '', hide } = attempt
  const all = result.stderr.trim() === '' ? result.stdout : result.stderr
  const from = all.search(/^Error: /m)
  const said = oneLine(
    hide((from < 0 ? all : all.slice(from)).replace(/^Error: ((INSTALLATION|UPGRADE) FAILED: )?/, '')),
  ).slice(0, 500)
  const found = [...(verb === 'trial' ? ofChart : []), ...readings, ...(verb === 'upgrade' ? ofChart : [])].find(
    ({ says }) => says.test(said),
  )
  const fill = (text: string): string =>
    text.replaceAll(
      /\{(target|chart|said)\}/g,
      (_, name: 'target' | 'chart' | 'said') => ({ target, chart, said })[name],
    )
  if (found) return new AdminError(found.code, fill(found.message), found.next(attempt))
  const end = said === '' ? `helm exited with ${result.exitCode ?? result.signal}` : said
  if (verb === 'look')
    return new AdminError('UNEXPECTED_ANSWER', `helm cannot show ${target}: ${end}`, [history(attempt)])
  if (verb === 'trial')
    return new AdminError('REFUSED', `helm cannot render chart ${chart} with these values: ${end}`, [])
  return new AdminError('FAILED', `helm ${verb} failed for ${target}: ${end}`, [history(attempt)])
}
