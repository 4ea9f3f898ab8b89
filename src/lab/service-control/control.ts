import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { giveBack, takeLock } from '../../adapters/local-lock.ts'
import type { ProcessIdentity } from '../../adapters/process-identity.ts'
import { identify, isAlive } from '../../adapters/process-identity.ts'
import { AdminError } from '../../core/error.ts'
import { command } from '../../core/shell-command.ts'
import { killAll, markOf, processesOf } from '../servers/local/processes.ts'
import type { Started, Unit } from './unit.ts'
import { forget, hasEnded, isOf, parseEnvironment, replace, running, textOf, writeStarted } from './unit.ts'
import { constants } from 'node:os'

const stopWithinMs = 30_000
const startWithinMs = 10_000

/**
 * Starts the service in the background. Like systemd's `Type=simple`, it returns before the service is ready.
 * `superviser` is the command that runs `supervise` on the unit. Harmless if the service is already running.
 */
export async function start(
  unit: Unit,
  superviser: readonly [string, ...string[]],
): Promise<'started' | 'already running'> {
  await access(unit.environmentFile).catch((cause: unknown) => {
    throw new AdminError(
      'CONFIGURATION',
      `${unit.directory} is not the folder of a service: ${unit.environmentFile} is missing`,
      ['testops-admin lab up'],
      { cause },
    )
  })
  return claimed(unit, async () => {
    if (await running(unit)) return 'already running'
    await recorded(unit)
    // in this order: a supervisor that is held up records nothing once its process is not named
    await forget(unit.pidFile)
    await forget(unit.exitFile)
    await writeStatusScript(unit)
    const [program, ...words] = superviser
    const child = spawn(program, words, {
      detached: true,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', ...markOf(unit.directory) },
    })
    const failed = new Promise<Error | null>((resolve) => {
      child.once('error', resolve)
      child.once('exit', () => resolve(null))
    })
    child.unref()
    for (const until = Date.now() + startWithinMs; Date.now() < until; await sleep(20)) {
      if ((await running(unit)) || (await hasEnded(unit))) return 'started'
      const over = await Promise.race([failed.then((error) => ({ error })), sleep(0, null)])
      if (over && !(await hasEnded(unit))) break
    }
    throw new AdminError('FAILED', `the service in ${unit.directory} could not be started`, [
      command`less ${unit.logFile}`,
    ])
  })
}

/** Stops the service: SIGTERM, then SIGKILL after 30 s. Returns once it is gone. Harmless if none is running. */
export async function stop(unit: Unit): Promise<'stopped' | 'not running'> {
  const work = async (): Promise<'stopped' | 'not running'> => {
    const service = await running(unit)
    if (!service) return 'not running'
    if (!(await ends(service, 'SIGTERM', stopWithinMs)) && !(await ends(service, 'SIGKILL', 5000))) {
      throw new AdminError('FAILED', `process ${service.pid} of the service does not exit`, [
        command`ps -o pid,stat,wchan -p ${service.pid}`,
      ])
    }
    await recorded(unit)
    return 'stopped'
  }
  return claimed(unit, work, { evenIfFull: true })
}

/**
 * Waits until the supervisor has recorded how the last run ended. Gives up after 2 s: the supervisor may have been
 * killed too. Call it once the service is gone.
 */
export async function recorded(unit: Unit): Promise<void> {
  const isOpen = async (): Promise<boolean> => (await textOf(unit.pidFile)) !== '' && !(await hasEnded(unit))
  for (const until = Date.now() + 2000; Date.now() < until && (await isOpen()); ) await sleep(20)
}

/**
 * Kills processes that a killed start may have left. Call it once the folder is gone, so that nothing new can start
 * from it. Without /proc it finds nothing.
 */
export async function endStragglers(directory: string): Promise<void> {
  if (process.platform === 'linux') await killAll(() => processesOf(directory, null))
}

async function ends(service: Started, signal: 'SIGTERM' | 'SIGKILL', withinMs: number): Promise<boolean> {
  if (!(await isAlive(service))) return true
  try {
    process.kill(service.pid, signal)
  } catch {
    return !(await isAlive(service))
  }
  for (const until = Date.now() + withinMs; Date.now() < until; await sleep(20))
    if (!(await isAlive(service))) return true
  return false
}

/** Runs `work` while no other start or stop runs. Takes over the claim of a dead process. Throws BUSY after 40 s. */
async function claimed<T>(unit: Unit, work: () => Promise<T>, options: { evenIfFull?: boolean } = {}): Promise<T> {
  const own = (await identify(process.pid))!
  const take = (): Promise<ProcessIdentity | null> => takeLock<ProcessIdentity>(unit.lockFile, own, options)
  let holder = await take()
  for (const until = Date.now() + stopWithinMs + 10_000; holder; holder = await take()) {
    if (Date.now() > until)
      throw new AdminError('BUSY', `process ${holder.pid} is starting or stopping the service in ${unit.directory}`, [
        'try again when that process has finished',
      ])
    await sleep(50)
  }
  try {
    return await work()
  } finally {
    await giveBack(unit.lockFile, own)
  }
}

/**
 * Starts the service with only the settings in its environment file. Records its process, waits for it to exit, and
 * records that. Runs in its own process, so the exit status is known after the starter has exited.
 */
export async function supervise(unit: Unit, [program, ...words]: readonly [string, ...string[]]): Promise<void> {
  const settings = parseEnvironment(await readFile(unit.environmentFile, 'utf8'))
  const log = openSync(unit.logFile, 'a', 0o600)
  const startedAt = new Date().toISOString()
  const child = spawn(program, words, {
    cwd: unit.directory,
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      LANG: 'C.UTF-8',
      ...settings,
      ...markOf(unit.directory),
      LAB_MACHINE_FILE: unit.machineFile,
    },
    stdio: ['ignore', log, log],
    // its own group, so a terminal's Ctrl-C does not reach the service
    detached: true,
  })
  closeSync(log)
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('error', () => resolve({ code: 203, signal: null }))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  // if it exits too soon to be inspected, only its process id is recorded
  const identity = child.pid === undefined ? null : ((await identify(child.pid)) ?? { pid: child.pid, startTime: '-' })
  if (identity) await writeStarted(unit, { ...identity, startedAt })
  const { code, signal } = await ended
  // the next run may have begun, if this process was held up
  if (identity && !(await isOf(unit, identity))) return
  const lines = linesOf({ startedAt, endedAt: new Date().toISOString(), code, signal })
  await replace(unit.exitFile, `${lines.join('\n')}\n`)
}

/** The unit's state, as its script shows it. */
export interface UnitStatus {
  running: boolean
  /** `key=value` as `systemctl show` prints them */
  lines: readonly string[]
}

/** How the service's process ended. Times are ISO. */
interface Ended {
  startedAt: string
  endedAt: string
  code: number | null
  signal: string | null
}

/**
 * Shows the unit in the script's folder, or in the folder given to it. A shell starts in a twentieth of the time that
 * Node needs, and every `doctor -d lab` asks. Without /proc, ps tells the process as `process-identity.ts` does.
 */
const script = `#!/bin/sh
# Shows the practice service as \`systemctl show\` does. Exits with 0 if it is running, else 3.
cd "\${1:-\${0%/*}}" || exit 4
pid= began= since= now=
[ -f service.pid ] && { read -r pid; read -r began; read -r since; } <service.pid
case $pid in '' | *[!0-9]*) pid= ;; esac
if [ -n "$pid" ]; then
  if [ -e /proc/self/stat ]; then
    { read -r line <"/proc/$pid/stat"; } 2>/dev/null || line=
    set -f
    set -- \${line##*) }
    case \${1:-X} in Z | X) ;; *) now=\${20} ;; esac
  else
    line=$(ps -o stat=,lstart= -p "$pid" | sed 's/^ *//; s/ *$//')
    case $line in '' | Z*) ;; *) now=$(printf %s "$line" | sed 's/^[^ ]* *//') ;; esac
  fi
fi
if [ -n "$now" ] && [ -n "$since" ] && [ "$now" = "$began" ]; then
  printf '%s\\n' ${linesOfRunning('$pid', '$since')
    .map((line) => `"${line}"`)
    .join(' ')}
  exit 0
fi
ended=
{ while read -r line || [ -n "$line" ]; do ended="$ended$line
"; done <service.exit; } 2>/dev/null
case $ended in
  ActiveState=*) printf %s "$ended" ;;
  # of a version that did not write these lines, nothing is shown but that it is not running
  *) printf '%s\\n' ${linesOf(null).join(' ')} ;;
esac
exit 3
`

/** Writes the script into the unit's folder. */
export async function writeStatusScript(unit: Unit): Promise<void> {
  await replace(unit.statusFile, script)
}

/** Returns what the script shows, without a process. Throws an `Error` if the folder is missing. */
export async function status(unit: Unit): Promise<UnitStatus> {
  await access(unit.directory)
  const service = await running(unit)
  if (service) return { running: true, lines: linesOfRunning(String(service.pid), service.startedAt) }
  const lines = (await textOf(unit.exitFile)).trimEnd().split('\n')
  return { running: false, lines: lines[0]!.startsWith('ActiveState=') ? lines : linesOf(null) }
}

function linesOfRunning(pid: string, startedAt: string): string[] {
  return [
    'ActiveState=active',
    'SubState=running',
    `MainPID=${pid}`,
    `ExecMainStartTimestamp=${startedAt}`,
    'ExecMainExitTimestamp=',
    'ExecMainCode=0',
    'ExecMainStatus=0',
    'Result=success',
  ]
}

/**
 * Returns what is shown of a service that is not running; null: it never ran. SIGTERM and a JVM's exit code 143 for it
 * count as a clean exit, as with `SuccessExitStatus=143`.
 */
function linesOf(ended: Ended | null): string[] {
  const number = ended?.signal ? constants.signals[ended.signal as NodeJS.Signals] : (ended?.code ?? 0)
  const clean =
    ended === null || ended.signal === 'SIGTERM' || (ended.signal === null && (ended.code === 0 || ended.code === 143))
  const result = clean ? 'success' : ended.signal ? 'signal' : 'exit-code'
  return [
    `ActiveState=${clean ? 'inactive' : 'failed'}`,
    `SubState=${clean ? 'dead' : 'failed'}`,
    'MainPID=0',
    `ExecMainStartTimestamp=${ended?.startedAt ?? ''}`,
    `ExecMainExitTimestamp=${ended?.endedAt ?? ''}`,
    `ExecMainCode=${ended ? (ended.signal ? 2 : 1) : 0}`,
    `ExecMainStatus=${number}`,
    `Result=${result}`,
  ]
}
