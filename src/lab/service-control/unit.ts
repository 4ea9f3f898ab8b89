import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive } from '../../adapters/process-identity.ts'
import type { ProcessIdentity } from '../../adapters/process-identity.ts'

/** One service in its folder: service.env, machine.json, service.log, and the control's own files. */
export interface Unit {
  directory: string
  environmentFile: string
  machineFile: string
  logFile: string
  pidFile: string
  exitFile: string
  statusFile: string
  lockFile: string
}

/** The running service, or the last one. Times are ISO. */
export interface Started extends ProcessIdentity {
  startedAt: string
}

export function unitIn(directory: string): Unit {
  const file = (name: string): string => join(directory, name)
  return {
    directory,
    environmentFile: file('service.env'),
    machineFile: file('machine.json'),
    logFile: file('service.log'),
    pidFile: file('service.pid'),
    exitFile: file('service.exit'),
    statusFile: file('status'),
    lockFile: file('service.lock'),
  }
}

/** Returns the unit's process if it is still alive, else null. */
export async function running(unit: Unit): Promise<Started | null> {
  const started = parseStarted(await textOf(unit.pidFile))
  return started && (await isAlive(started)) ? started : null
}

/** True if that process is the one of the service's last run. */
export async function isOf(unit: Unit, { pid, startTime }: ProcessIdentity): Promise<boolean> {
  const last = parseStarted(await textOf(unit.pidFile))
  return last?.pid === pid && last.startTime === startTime
}

/** True if the end of the service's last run is on record. */
export async function hasEnded(unit: Unit): Promise<boolean> {
  return (await textOf(unit.exitFile)) !== ''
}

/** Writes process id, system start time and readable start time, one a line, so that `head -1` gives the process id. */
export async function writeStarted(unit: Unit, { pid, startTime, startedAt }: Started): Promise<void> {
  await replace(unit.pidFile, `${pid}\n${startTime}\n${startedAt}\n`)
}

export async function forget(file: string): Promise<void> {
  await rm(file, { force: true })
}

/** Parses `NAME=value` lines like systemd's EnvironmentFile, with comments and quoted values. */
export function parseEnvironment(text: string): Record<string, string> {
  const values: Record<string, string> = {}
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line.trim()) ?? []
    if (name === undefined) continue
    const quoted = /^(["'])([\s\S]*)\1$/.exec(value!)
    values[name] = quoted ? (quoted[1] === '"' ? quoted[2]!.replace(/\\(["\\$`])/g, '$1') : quoted[2]!) : value!
  }
  return values
}

function parseStarted(text: string): Started | null {
  const [pid, startTime, startedAt] = text.split('\n')
  return pid && startTime && startedAt && /^\d+$/.test(pid) ? { pid: Number(pid), startTime, startedAt } : null
}

/** Returns the file's text; empty if it cannot be read. */
export async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '')
}

/** Writes a file for its owner alone, whole or not at all. */
export async function replace(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
