import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { markOf } from '../servers/local/processes.ts'
import { identify } from '../../adapters/process-identity.ts'
import { parseEnvironment, writeEnded, writeStarted } from './unit.ts'
import type { Unit } from './unit.ts'

/**
 * Starts the service with the settings of its environment file and nothing else of ours, notes its process, waits for
 * its end and notes that. Runs in a process of its own, so that the exit status is known after the starter has gone.
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
    // a group of its own: a terminal's Ctrl-C is not for the service
    detached: true,
  })
  closeSync(log)
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('error', () => resolve({ code: 203, signal: null }))
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  // one that is over so soon that it cannot be looked at is noted by its number alone
  const identity = child.pid === undefined ? null : ((await identify(child.pid)) ?? { pid: child.pid, startTime: '-' })
  if (identity) await writeStarted(unit, { ...identity, startedAt })
  const { code, signal } = await ended
  await writeEnded(unit, { startedAt, endedAt: new Date().toISOString(), code, signal })
}
