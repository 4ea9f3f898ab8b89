import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { giveBack, takeLock } from '../../adapters/lock-file.ts'
import type { ProcessIdentity } from '../../adapters/process-identity.ts'
import { identify, isAlive } from '../../adapters/process-identity.ts'
import { AdminError } from '../../core/error.ts'
import { command } from '../../core/shell-command.ts'
import { killAll, markOf, processesOf } from '../servers/local/processes.ts'
import { linesOf, writeStatusScript } from './status.ts'
import type { Started, Unit } from './unit.ts'
import { forget, hasEnded, parseEnvironment, replace, running, writeStarted } from './unit.ts'

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
    await forget(unit.exitFile)
    await forget(unit.pidFile)
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
    // its supervisor records the exit status a moment later
    for (const until = Date.now() + 2000; Date.now() < until && !(await hasEnded(unit)); ) await sleep(20)
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
export async function supervise(unit: Unit, program: string): Promise<void> {
  const settings = parseEnvironment(await readFile(unit.environmentFile, 'utf8'))
  const log = openSync(unit.logFile, 'a', 0o600)
  const startedAt = new Date().toISOString()
  const child = spawn(process.execPath, [program], {
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
  const lines = linesOf({ startedAt, endedAt: new Date().toISOString(), code, signal })
  await replace(unit.exitFile, `${lines.join('\n')}\n`)
}
