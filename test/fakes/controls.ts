import type { Compared, Controls, DatabaseControl, ServiceControl } from '../../src/core/controls.ts'
import type { ChangelogLockRow, Sources } from '../../src/core/sources.ts'
import { fakeDatabase, lockTable } from './database.ts'
import { brokerWorld } from './broker-world.ts'
import type { BrokerWorld } from './broker-world.ts'
import { fakeSessionStore } from './session-store.ts'
import { fakeService, running, stopped } from './service.ts'

/** A deployment in memory that can be looked at and changed: what is changed through its controls is seen through its sources. */
export interface FakeDeployment {
  service: 'running' | 'stopped'
  /** of `public.databasechangeloglock` */
  rows: ChangelogLockRow[]
  /** what is on record of the step that is worked on, whichever process works on it */
  readonly notes: string[]
  /** what was called, oldest first: 'service.stop', 'database.releaseLock' */
  readonly changes: string[]
  readonly control: { readonly [K in keyof Controls]: () => Promise<Controls[K]> }
  /** the service's settings */
  readonly settings: Map<string, string>
  readonly broker: BrokerWorld
  readonly sources: Pick<Sources, 'database' | 'service' | 'broker' | 'sessions'>
  readonly store: ReturnType<typeof fakeSessionStore>
}

/** A service that runs, and a lock row that is free, unless told otherwise. */
export function fakeDeployment(of: Partial<Pick<FakeDeployment, 'service' | 'rows' | 'broker' | 'store'>> = {}): FakeDeployment {
  const changes: string[] = []
  const database = noted('database', fakeDatabaseControl(() => deployment), changes)
  const deployment: FakeDeployment = {
    service: 'running',
    rows: [{ id: 1, locked: false, lockGranted: null, lockedBy: null }],
    settings: new Map(),
    broker: brokerWorld(),
    store: fakeSessionStore(),
    ...of,
    notes: [],
    changes,
    control: {
      database: async () => [database],
      service: async () => noted('service', fakeServiceControl(() => deployment), changes),
      broker: async () => noted('broker', deployment.broker.control, changes),
      sessions: async () => noted('sessions', deployment.store.control, changes),
    },
    sources: {
      database: [fakeDatabase({ changelogLocks: () => [lockTable([...deployment.rows])], backends: { complete: true, backends: [] } })],
      service: fakeService({ status: () => (deployment.service === 'running' ? running() : stopped()), environment: () => new Map(deployment.settings) }),
      get sessions() {
        return deployment.store.source
      },
      get broker() {
        return deployment.broker.source
      },
    },
  }
  return deployment
}

function fakeServiceControl(of: () => Pick<FakeDeployment, 'service' | 'settings'>): ServiceControl {
  const become = async (state: FakeDeployment['service']): ReturnType<ServiceControl['stop']> => {
    of().service = state
    return state === 'running' ? running() : stopped()
  }
  return {
    stop: async () => become('stopped'),
    start: async () => become('running'),
    async writeSetting({ name, from, to }) {
      const { settings } = of()
      if ((settings.get(name) ?? null) !== from) return 'changed'
      if (to === null) settings.delete(name)
      else settings.set(name, to)
      return 'set'
    },
  }
}

/** As PostgreSQL does it: a row is set only where all of its columns are as they were seen. */
export function fakeDatabaseControl(of: () => Pick<FakeDeployment, 'rows'>): DatabaseControl {
  const free = { id: 1, locked: false, lockGranted: null, lockedBy: null }
  const set = (is: (row: ChangelogLockRow) => boolean, to: Omit<ChangelogLockRow, 'id'>): Compared => {
    const rows = of().rows
    const index = rows.findIndex((row) => row.id === 1 && is(row))
    if (index < 0) return 'changed'
    rows[index] = { id: 1, ...to }
    return 'set'
  }
  const committed: string[] = []
  let last: { row: ChangelogLockRow; by: string } | null = null
  const isFree = (row: ChangelogLockRow): boolean => !row.locked && row.lockGranted === null && row.lockedBy === null
  return {
    target: 'db.example.org:5432/testops',
    async releaseLock(_, seen, beforehand) {
      const by = String(700 + committed.length)
      await beforehand?.(by)
      const compared = set((row) => row.locked === seen.locked && row.lockGranted === seen.lockGranted && row.lockedBy === seen.lockedBy, free)
      if (compared === 'changed') return compared
      committed.push(by)
      last = { row: of().rows.find(({ id }) => id === 1)!, by }
      return compared
    },
    hasCommitted: async (marks) => marks.some((mark) => committed.includes(mark)),
    restoreLock: async (_, seen, by) => set((row) => isFree(row) && (!by || (last?.row === row && by.includes(last.by))), seen),
    async insertLockRow() {
      if (of().rows.some(({ id }) => id === 1)) return 'changed'
      of().rows.push(free)
      return 'set'
    },
    async deleteLockRow() {
      const index = of().rows.findIndex((row) => row.id === 1 && isFree(row))
      if (index < 0) return 'changed'
      of().rows.splice(index, 1)
      return 'set'
    },
  }
}

/** what changes nothing */
const looks = ['assertRemovable', 'hasCommitted', 'kept']

function noted<C extends object>(part: string, control: C, changes: string[]): C {
  return new Proxy(control, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function' || looks.includes(String(name))) return value
      return (...input: unknown[]): unknown => {
        changes.push(`${part}.${String(name)}`)
        return Reflect.apply(value, target, input)
      }
    },
  })
}
