import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { markOf } from '../servers/local/processes.ts'
import { identify } from '../../adapters/process-identity.ts'
import { parseEnvironment, writeEnded, writeStarted } from './unit.ts'
import type { Unit } from './unit.ts'

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
  await writeEnded(unit, { startedAt, endedAt: new Date().toISOString(), code, signal })
}
