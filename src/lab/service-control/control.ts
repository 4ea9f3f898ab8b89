import { spawn } from 'node:child_process'
import { access } from 'node:fs/promises'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { AdminError } from '../../core/error.ts'
import { killAll, markOf, processesOf } from '../servers/local/processes.ts'
import { giveBack, takeLock } from '../../adapters/lock-file.ts'
import { identify, isAlive } from '../../adapters/process-identity.ts'
import type { ProcessIdentity } from '../../adapters/process-identity.ts'
import { forget, readEnded, running } from './unit.ts'
import type { Started, Unit } from './unit.ts'
import { command } from '../../core/shell-command.ts'

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
      `${unit.environmentFile} is missing: this is not a service's folder`,
      ['testops-admin lab up'],
      { cause },
    )
  })
  return claimed(unit, async () => {
    if (await running(unit)) return 'already running'
    await forget(unit.exitFile)
    await forget(unit.pidFile)
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
      if ((await running(unit)) || (await readEnded(unit))) return 'started'
      const over = await Promise.race([failed.then((error) => ({ error })), sleep(0, null)])
      if (over && !(await readEnded(unit))) break
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
    // its supervisor records the exit status a moment later
    for (const until = Date.now() + 2000; Date.now() < until && !(await readEnded(unit)); ) await sleep(20)
    return 'stopped'
  }
  return claimed(unit, work, { evenIfFull: true })
}

/**
 * Kills processes that a killed start may have left. Call it once the folder is gone, so that nothing new can start
 * from it. Without /proc it finds nothing.
 */
export async function endStragglers(directory: string): Promise<void> {
  if (process.platform === 'linux') await killAll(() => processesOf(directory, null))
}

export interface UnitStatus {
  running: boolean
  /** `key=value` as `systemctl show` prints them */
  lines: readonly string[]
}

/**
 * Reports the unit's state. SIGTERM and a JVM's exit code 143 for it count as a clean exit, as with
 * `SuccessExitStatus=143`.
 */
export async function status(unit: Unit): Promise<UnitStatus> {
  const service = await running(unit)
  if (service) {
    return {
      running: true,
      lines: [
        'ActiveState=active',
        'SubState=running',
        `MainPID=${service.pid}`,
        `ExecMainStartTimestamp=${service.startedAt}`,
        'ExecMainExitTimestamp=',
        'ExecMainCode=0',
        'ExecMainStatus=0',
        'Result=success',
      ],
    }
  }
  const ended = await readEnded(unit)
  const number = ended?.signal ? constants.signals[ended.signal as NodeJS.Signals] : (ended?.code ?? 0)
  const clean =
    ended === null || ended.signal === 'SIGTERM' || (ended.signal === null && (ended.code === 0 || ended.code === 143))
  const result = clean ? 'success' : ended.signal ? 'signal' : 'exit-code'
  return {
    running: false,
    lines: [
      `ActiveState=${clean ? 'inactive' : 'failed'}`,
      `SubState=${clean ? 'dead' : 'failed'}`,
      'MainPID=0',
      `ExecMainStartTimestamp=${ended?.startedAt ?? ''}`,
      `ExecMainExitTimestamp=${ended?.endedAt ?? ''}`,
      `ExecMainCode=${ended ? (ended.signal ? 2 : 1) : 0}`,
      `ExecMainStatus=${number}`,
      `Result=${result}`,
    ],
  }
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
        'try again when it has finished',
      ])
    await sleep(50)
  }
  try {
    return await work()
  } finally {
    await giveBack(unit.lockFile, own)
  }
}
