import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { AdminError, messageOf } from '../../core/error.ts'
import { images } from '../../knowledge/images.ts'
import { defaultVendor } from '../../knowledge/settings.ts'
import type { Vendor } from '../../knowledge/settings.ts'

/** The machine that the practice service believes to run on; what the lab sets as causes of faults. */
export interface PracticeMachine {
  /** how far the machine's clock is ahead of the real one */
  clockOffsetMs: number
  /** a file as /proc/cpuinfo is one; null: the processor is not looked at */
  cpuinfo: string | null
  image: string
  build: string
  /** loopback port of the control server (control.ts); 0: none */
  controlPort: number
  /** what goes into LOCKEDBY */
  hostName: string
  responseDelayMs: number
  integrationIntervalMs: number
  /** Spring AMQP's recovery interval is 5 s */
  brokerRetryMs: number
  vendor: Vendor
  /** the Liquibase in the service; before 4.29.2 it gives back a lock that it did not get (FIELD-NOTES.md 2) */
  liquibase: string
  /** change sets that a newer version brings; null: none */
  migration: PendingMigration | null
}

export interface PendingMigration {
  /** part of the change sets' ids: another name is pending again */
  name: string
  changeSets: number
  /** short statements of each change set */
  statements: number
  /** pause after each statement, in which no statement of the service is active */
  statementMs: number
}

const plain: PracticeMachine = {
  clockOffsetMs: 0,
  cpuinfo: null,
  image: images.standard,
  build: '527u01',
  controlPort: 0,
  hostName: hostname(),
  responseDelayMs: 0,
  integrationIntervalMs: 5000,
  brokerRetryMs: 5000,
  vendor: defaultVendor,
  liquibase: '4.29.2',
  migration: null,
}

const shortMigration: PendingMigration = { name: '', changeSets: 1, statements: 100, statementMs: 50 }

/** Fills in what is left out. Throws CONFIGURATION where a key or a value is not allowed. */
export function practiceMachine(values: unknown = {}): PracticeMachine {
  const machine = filled(values, plain, ['cpuinfo', 'migration', 'vendor'])
  const { cpuinfo, vendor, migration } = values as Partial<PracticeMachine>
  if (cpuinfo !== undefined && cpuinfo !== null && typeof cpuinfo !== 'string') throw wrong('cpuinfo')
  return {
    ...machine,
    cpuinfo: cpuinfo ?? null,
    vendor: vendor ? filled(vendor, defaultVendor, [], 'vendor.') : defaultVendor,
    migration: migration ? named(filled(migration, shortMigration, [], 'migration.')) : null,
  }
}

/** Reads the machine's file; no name means a machine without any oddity. Throws CONFIGURATION. */
export async function readMachine(file: string | undefined): Promise<PracticeMachine> {
  if (file === undefined) return practiceMachine()
  let values: unknown
  try {
    values = JSON.parse(await readFile(file, 'utf8'))
  } catch (cause) {
    const message = `${file} cannot be read as a machine's description: ${messageOf(cause)}`
    throw new AdminError('CONFIGURATION', message, [], { cause })
  }
  return practiceMachine(values)
}

/** `values` over `defaults`, of whose types they must be; keys in `apart` are judged by the caller. */
function filled<T extends object>(values: unknown, defaults: T, apart: readonly (keyof T & string)[], path = ''): T {
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw wrong(path.slice(0, -1) || 'the whole')
  for (const [key, value] of Object.entries(values)) {
    if (!(key in defaults)) throw wrong(`${path}${key}`, 'is not known')
    if ((apart as readonly string[]).includes(key)) continue
    if (typeof value !== typeof defaults[key as keyof T]) throw wrong(`${path}${key}`)
    if (typeof value === 'number' && key !== 'clockOffsetMs' && value < 0) throw wrong(`${path}${key}`, 'is negative')
  }
  return { ...defaults, ...values }
}

function named(migration: PendingMigration): PendingMigration {
  if (!migration.name) throw wrong('migration.name', 'is missing')
  return migration
}

function wrong(key: string, how = 'is not of its type'): AdminError {
  return new AdminError('CONFIGURATION', `The practice service's machine is not described well: ${key} ${how}`)
}
