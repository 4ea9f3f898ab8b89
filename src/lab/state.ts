import { readFile } from 'node:fs/promises'
import { AdminError, codeOf, messageOf } from '../core/error.ts'
import type { Changes } from './changes.ts'
import { folderFailure } from './layout.ts'
import type { LabLayout } from './layout.ts'
import type { RabbitmqLine } from './servers/index.ts'
import { writePrivate } from './servers/record.ts'

/** The lab's state between commands: lab.json, written before each step. */
export interface LabState {
  schemaVersion: 1
  /** random; part of the lab's names on given servers */
  id: string
  phase: 'starting' | 'up' | 'stopping'
  /** the healthy lab's broker */
  brokerLine: RabbitmqLine
  /** the broker to run now; a fault may need the other one */
  currentLine: RabbitmqLine
  servicePort: number
  controlPort: number
  /** passwords that the lab made, in plain text; the file has mode 0600 */
  databasePassword: string
  sessionsPassword: string
  faults: readonly BrokenFault[]
}

export interface BrokenFault {
  /** `fault` or `fault/variant` */
  name: string
  /** ISO */
  since: string
  /** half: making or mending the fault did not finish */
  state: 'half' | 'broken'
  /** changes to the lab's files while it is broken */
  changes: Changes
  /** a drill made it: its name is not shown while the drill is under way */
  hidden?: true
}

/** Reads the state; null: there is no lab. Throws FAILED if the file is damaged, UNAVAILABLE if it cannot be read. */
export async function readState({ root, state }: LabLayout): Promise<LabState | null> {
  let text: string
  try {
    text = await readFile(state, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw folderFailure(error, root)
  }
  try {
    const value = JSON.parse(text) as Stored
    if (value.schemaVersion !== 1 || typeof value.id !== 'string')
      throw new Error('another version of testops-admin wrote this file')
    return { ...value, faults: value.faults.map((it) => (typeof it === 'string' ? unsealed<BrokenFault>(it) : it)) }
  } catch (error) {
    throw new AdminError(
      'FAILED',
      `the lab's state file ${state} is unusable: ${messageOf(error)}`,
      ['testops-admin lab down'],
      { cause: error },
    )
  }
}

export async function writeState({ state }: LabLayout, value: LabState): Promise<void> {
  const stored: Stored = { ...value, faults: value.faults.map((it) => (it.hidden ? sealed(it) : it)) }
  await writePrivate(state, `${JSON.stringify(stored, null, 2)}\n`)
}

/** In the file, a hidden fault is sealed: who looks into the file during a drill does not read its name by accident. */
type Stored = Omit<LabState, 'faults'> & { faults: readonly (BrokenFault | string)[] }

/** Makes a value unreadable at a glance. It keeps no secret: anybody can decode it. */
export function sealed(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}

/** Reads what `sealed` made. Throws if it is damaged. */
export function unsealed<T>(text: string): T {
  return JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as T
}
