import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../../../adapters/process.ts'
import type { ProgramResult } from '../../../adapters/process.ts'
import { AdminError } from '../../../core/error.ts'
import { once } from '../../../core/once.ts'
import type { HelmRun } from '../../../core/controls.ts'
import type { PlatformOptions } from '../../platform.ts'
import { processName } from '../process-name.ts'

/** Which cluster helm works on. */
export interface HelmPlace {
  /** Context of kubectl; null in a pod of the cluster */
  context: string | null
  namespace: string
}

export interface Helm {
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
