import { stat } from 'node:fs/promises'
import { runProgram } from '../../adapters/process.ts'
import { AdminError } from '../../core/error.ts'
import { firstLine } from '../../core/format.ts'
import { isObject } from '../../core/shape.ts'
import { command } from '../../core/shell-command.ts'
import type { PlatformChange, PlatformChanges, ServiceHealth } from '../../core/sources.ts'
import type { PlatformOptions } from '../platform.ts'
import type { HostSettings, ServiceManager } from './manager.ts'

/**
 * Returns what changed about a service of this machine: its settings files, its unit's, its process, the clock. Throws
 * INTERRUPTED; `unseen` lists what else cannot be asked.
 */
export async function changesOf(
  { environmentFile }: HostSettings,
  manager: ServiceManager | null,
  options: PlatformOptions,
): Promise<PlatformChanges> {
  const unseen: string[] = []
  const seen = async <T>(asked: Promise<T> | undefined, otherwise: T): Promise<T> =>
    (asked ?? Promise.resolve(otherwise)).catch((error: unknown) => {
      if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
      unseen.push(error.message)
      return otherwise
    })
  const [files, unit, health, clock] = await Promise.all([
    seen(
      manager?.environment().then((it) => it.files.map(({ path }) => path)),
      [],
    ),
    seen(
      manager?.definition?.().then(({ lines }) => lines.flatMap(fileIn)),
      [],
    ),
    seen<ServiceHealth | null>(manager?.health(), null),
    clockChanges(options),
  ])
  const paths = [...(environmentFile === null ? [] : [environmentFile.path]), ...files, ...unit]
  return {
    changes: [
      ...(await fileChanges(paths)),
      ...(manager && health ? health.instances.flatMap((it) => processChanges(it, manager.commands.status)) : []),
      ...clock.changes,
    ],
    unseen: [...unseen, ...clock.unseen],
  }
}

/** Returns the file that a heading of `systemctl cat` names. */
function fileIn(line: unknown): string[] {
  const [, path] = (typeof line === 'string' && /^# (\/\S+)$/.exec(line)) || []
  return path === undefined ? [] : [path]
}

function processChanges(
  { name, startedAt, ended, restarts }: ServiceHealth['instances'][number],
  proof: PlatformChange['proof'],
): PlatformChange[] {
  const told = (at: Date | null | undefined, what: string): PlatformChange[] =>
    at ? [{ kind: 'restart', at, message: `${name} ${what}`, proof }] : []
  if (startedAt !== null) return told(startedAt, restarts > 0 ? 'was restarted by systemd' : 'was started')
  const how = ended?.exitCode == null ? 'ended' : `exited with ${ended.exitCode}`
  return told(ended?.at, ended?.reason ? `${how} (${ended.reason})` : how)
}

/** Returns when files were last written; leaves out what is no file, or may not be seen. */
export async function fileChanges(paths: readonly string[]): Promise<PlatformChange[]> {
  const all = await Promise.all(
    [...new Set(paths)].map(async (path): Promise<PlatformChange[]> => {
      const found = await stat(path).catch(() => null)
      return found?.isFile()
        ? [
            {
              kind: 'setting',
              // a copy may keep the time of what it is a copy of
              ...(found.ctimeMs - found.mtimeMs > 1000
                ? { at: found.ctime, message: `${path} was replaced, or its mode was changed` }
                : { at: found.mtime, message: `${path} was changed` }),
              proof: command`ls -l --full-time ${path}`,
            },
          ]
        : []
    }),
  )
  return all.flat()
}

/** Message that systemd logs when somebody, or a time service, sets the clock (systemd, sd-messages.h). */
const clockSet = 'c7a787079b354eaaa9e77b371893cd27'
const hiddenClock = 'this user cannot read in the system journal whether the clock was set'
/** Lines of the journal that are read */
const mostLines = 50

/** Returns when this machine's clock was set, as far as its journal says. Throws INTERRUPTED. */
export async function clockChanges(options: PlatformOptions): Promise<PlatformChanges> {
  const since = ['--since=-2 days', `MESSAGE_ID=${clockSet}`] as const
  const proof = command`journalctl ${since[0]} ${since[1]}`
  try {
    const { stdout, stderr, exitCode } = await runProgram(
      ['journalctl', '--no-pager', '-o', 'json', '-n', String(mostLines), ...since],
      { ...options, environment: { ...options.environment, LC_ALL: 'C' } },
    )
    // systemd-journald shows each user their own lines alone, and says so
    const isHidden = /insufficient permissions|not seeing messages from other users/i.test(stderr)
    if (isHidden || exitCode !== 0)
      return { changes: [], unseen: [isHidden ? hiddenClock : `${hiddenClock}: ${firstLine(stderr.trim())}`] }
    return { changes: stdout.split('\n').flatMap((line) => clockChangeIn(line, proof)), unseen: [] }
  } catch (error) {
    // not every machine has a journal
    if (error instanceof AdminError && error.code === 'UNAVAILABLE') return { changes: [], unseen: [] }
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return { changes: [], unseen: [error.message] }
    throw error
  }
}

function clockChangeIn(line: string, proof: PlatformChange['proof']): PlatformChange[] {
  const at = new Date(microsecondsIn(line) / 1000)
  return Number.isNaN(at.getTime()) ? [] : [{ kind: 'clock', at, message: "this machine's clock was set", proof }]
}

function microsecondsIn(line: string): number {
  try {
    const entry: unknown = JSON.parse(line)
    return isObject(entry) ? Number(entry['__REALTIME_TIMESTAMP']) : Number.NaN
  } catch {
    return Number.NaN
  }
}
