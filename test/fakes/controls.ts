import { isDeepStrictEqual } from 'node:util'
import type { Compared, Controls, DatabaseControl, ServiceControl } from '../../src/core/controls.ts'
import type { ChangelogLockRow, Sources, WantedImage } from '../../src/core/sources.ts'
import { AdminError } from '../../src/core/error.ts'
import { fakeApiControl } from './api-control.ts'
import type { FakeApiControl } from './api-control.ts'
import { fakeDatabase, lockTable } from './database.ts'
import { brokerWorld } from './broker-world.ts'
import type { BrokerWorld } from './broker-world.ts'
import { fileWorld } from './files.ts'
import type { FileWorld } from './files.ts'
import { releaseWorld } from './release.ts'
import type { ReleaseWorld } from './release.ts'
import { fakeSessionStore } from './session-store.ts'
import { fakeService, running, stopped } from './service.ts'

/** A deployment in memory: its sources show every change that its controls make. */
export interface FakeDeployment {
  service: 'running' | 'stopped'
  /** Rows of `public.databasechangeloglock` */
  rows: ChangelogLockRow[]
  /** Notes on the current step, whichever process works on it */
  readonly notes: string[]
  /** Texts kept beside the journal */
  readonly kept: Map<string, string>
  /** Calls of the controls, oldest first: 'service.stop', 'database.releaseLock' */
  readonly changes: string[]
  readonly control: { readonly [K in keyof Controls]: () => Promise<Controls[K]> }
  /** The service's settings: the address of `fakeDatabase`, unless told otherwise */
  readonly settings: Map<string, string>
  readonly broker: BrokerWorld
  readonly sources: Pick<Sources, 'database' | 'service' | 'broker' | 'sessions' | 'files' | 'release'>
  readonly files: FileWorld
  readonly release: ReleaseWorld
  /** Images that its container engine has */
  readonly images: Set<string>
  /** Number of further status queries that show a rollout in progress */
  rollsOut: number
  readonly store: ReturnType<typeof fakeSessionStore>
  /** Accepts every migration that is requested, unless told otherwise */
  readonly api: FakeApiControl
}

/** A deployment with a running service and a free lock row, unless told otherwise. */
export function fakeDeployment(
  of: Partial<
    Pick<FakeDeployment, 'service' | 'rows' | 'broker' | 'store' | 'api' | 'files' | 'release' | 'rollsOut'>
  > = {},
): FakeDeployment {
  const changes: string[] = []
  const database = noted(
    'database',
    fakeDatabaseControl(() => deployment),
    changes,
  )
  const deployment: FakeDeployment = {
    service: 'running',
    rows: [{ id: 1, locked: false, lockGranted: null, lockedBy: null }],
    settings: new Map([['SPRING_DATASOURCE_URL', 'jdbc:postgresql://db.example.org:5432/testops']]),
    broker: brokerWorld(),
    store: fakeSessionStore(),
    api: fakeApiControl(),
    files: fileWorld(),
    release: releaseWorld(),
    rollsOut: 0,
    images: new Set(),
    ...of,
    notes: [],
    kept: new Map(),
    changes,
    control: {
      database: async () => [database],
      service: async () =>
        noted(
          'service',
          fakeServiceControl(() => deployment),
          changes,
        ),
      broker: async () => noted('broker', deployment.broker.control, changes),
      sessions: async () => noted('sessions', deployment.store.control, changes),
      api: async () => noted('api', deployment.api, changes),
      files: async () => noted('files', deployment.files.control, changes),
      release: async () => noted('release', deployment.release.control, changes),
    },
    sources: {
      database: [fakeDatabase({ changelogLocks: () => [lockTable([...deployment.rows])], backends: [] })],
      service: fakeService({
        status: () =>
          deployment.service === 'running'
            ? running(deployment.rollsOut-- > 0 ? { isRollingOut: true } : {})
            : stopped(),
        environment: () => new Map(deployment.settings),
        hasImage: ({ image }: WantedImage) => deployment.images.has(image),
      }),
      get sessions() {
        return deployment.store.source
      },
      get broker() {
        return deployment.broker.source
      },
      get files() {
        return deployment.files.source
      },
      get release() {
        return deployment.release.source
      },
    },
  }
  return deployment
}

function fakeServiceControl(of: () => Pick<FakeDeployment, 'service' | 'settings' | 'images'>): ServiceControl {
  const become = async (
    state: FakeDeployment['service'],
    { signal }: Parameters<ServiceControl['stop']>[0],
  ): ReturnType<ServiceControl['stop']> => {
    of().service = state
    if (signal?.aborted) throw new AdminError('INTERRUPTED', `interrupted while waiting for the service to be ${state}`)
    return state === 'running' ? running() : stopped()
  }
  return {
    stop: async (options) => become('stopped', options),
    start: async (options) => become('running', options),
    fetchImage: async ({ image }) => void of().images.add(image),
    async trySetting({ name, from, to }) {
      const value = of().settings.get(name) ?? null
      return value === from || value === to ? 'set' : 'changed'
    },
    async writeSetting({ name, from, to }) {
      const { settings } = of()
      const current = settings.get(name) ?? null
      if (current === to) return 'set'
      if (current !== from) return 'changed'
      if (to === null) settings.delete(name)
      else settings.set(name, to)
      return 'set'
    },
  }
}

/** Sets a row only if all of its columns are as they were seen, as PostgreSQL does. */
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
  const isSetBy = (row: ChangelogLockRow, by: readonly string[] | undefined): boolean =>
    !by || (last?.row === row && by.includes(last.by))
  /** Runs a transaction, which is known by its mark once it has set something */
  const marked = async (
    beforehand: ((mark: string) => Promise<void>) | undefined,
    change: () => Compared,
  ): Promise<Compared> => {
    const by = String(700 + committed.length)
    await beforehand?.(by)
    const compared = change()
    if (compared === 'changed') return compared
    committed.push(by)
    const row = of().rows.find(({ id }) => id === 1)
    last = row ? { row, by } : null
    return compared
  }
  const without = (is: (row: ChangelogLockRow) => boolean): void =>
    void of().rows.splice(0, Infinity, ...of().rows.filter((row) => !is(row)))
  return {
    target: 'db.example.org:5432/testops',
    alsoAt: [],
    releaseLock: async (_, seen, beforehand) =>
      marked(beforehand, () =>
        set(
          (row) => row.locked === seen.locked && row.lockGranted === seen.lockGranted && row.lockedBy === seen.lockedBy,
          { ...free },
        ),
      ),
    hasCommitted: async (marks) => marks.some((mark) => committed.includes(mark)),
    restoreLock: async (_, seen, by) => set((row) => isFree(row) && isSetBy(row, by), seen),
    insertLockRow: async (_, beforehand) =>
      marked(beforehand, () => {
        if (of().rows.some(({ id }) => id === 1)) return 'changed'
        of().rows.push({ ...free })
        return 'set'
      }),
    async deleteLockRow(_, by) {
      const row = of().rows.find((one) => one.id === 1 && isFree(one) && isSetBy(one, by))
      if (!row) return 'changed'
      without((one) => one === row)
      return 'set'
    },
    removeOtherRows: async (_, seen, beforehand) =>
      marked(beforehand, () => {
        const isSeen = (row: ChangelogLockRow): boolean =>
          row.id !== 1 && seen.some((one) => isDeepStrictEqual(one, row))
        if (!of().rows.some(isSeen)) return 'changed'
        without(isSeen)
        return 'set'
      }),
    async restoreOtherRows(_, seen) {
      const missing = seen.filter((one) => of().rows.every(({ id }) => id !== one.id))
      of().rows.push(...missing)
      return missing.length > 0 ? 'set' : 'changed'
    },
  }
}

/** Methods that change nothing */
const looks = ['assertRemovable', 'hasCommitted', 'kept', 'try', 'tryBack', 'isRunning']

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
