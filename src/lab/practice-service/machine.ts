import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { AdminError, messageOf } from '../../core/error.ts'
import { images } from '../../knowledge/images.ts'
import type { Vendor } from '../../knowledge/settings.ts'
import { defaultVendor } from '../../knowledge/settings.ts'

/** The machine that the practice service thinks it runs on. The lab changes it to cause faults. */
export interface PracticeMachine {
  /** milliseconds that the machine's clock is ahead of the real one */
  clockOffsetMs: number
  /** path of a file like /proc/cpuinfo; null: the processor is not checked */
  cpuinfo: string | null
  image: string
  build: string
  /** loopback port of the control server (control.ts); 0: none */
  controlPort: number
  /** the value for LOCKEDBY */
  hostName: string
  responseDelayMs: number
  integrationIntervalMs: number
  /** milliseconds between two attempts to reach the broker; Spring AMQP's recovery interval is 5 s */
  brokerRetryMs: number
  vendor: Vendor
  /** the service's Liquibase version; before 4.29.2 it releases a lock that it did not take (FIELD-NOTES.md 2) */
  liquibase: string
  /** change sets that a newer version brings; null: none */
  migration: PendingMigration | null
}

export interface PendingMigration {
  /** part of the change sets' ids: with a new name they are pending again */
  name: string
  changeSets: number
  /** number of short statements in each change set */
  statements: number
  /** pause after each statement, in milliseconds; no statement of the service is active meanwhile */
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

/** Returns the machine with defaults filled in. Throws CONFIGURATION if a key or a value is invalid. */
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

/** Reads the machine's file. No name means a normal machine. Throws CONFIGURATION. */
export async function readMachine(file: string | undefined): Promise<PracticeMachine> {
  if (file === undefined) return practiceMachine()
  let values: unknown
  try {
    values = JSON.parse(await readFile(file, 'utf8'))
  } catch (cause) {
    const message = `could not read the machine file ${file}: ${messageOf(cause)}`
    throw new AdminError('CONFIGURATION', message, [], { cause })
  }
  return practiceMachine(values)
}

/** Merges `values` over `defaults`, whose types they must have. The caller checks the keys in `apart`. */
function filled<T extends object>(values: unknown, defaults: T, apart: readonly (keyof T & string)[], path = ''): T {
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw wrong(path.slice(0, -1) || 'the content')
  for (const [key, value] of Object.entries(values)) {
    if (!(key in defaults)) throw wrong(`${path}${key}`, 'is unknown')
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

function wrong(key: string, how = 'has the wrong type'): AdminError {
  return new AdminError('CONFIGURATION', `the practice service's machine file is invalid: ${key} ${how}`)
}

/** The clock of the service's machine. The service takes every date from it, and checks every date against it. */
export interface Clock {
  /** milliseconds ahead of real time; the lab changes it while the service runs */
  offsetMs: number
  /** epoch milliseconds */
  now(): number
}

export function createClock(offsetMs: number): Clock {
  const clock: Clock = { offsetMs, now: () => Date.now() + clock.offsetMs }
  return clock
}
