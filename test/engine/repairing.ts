import type { Plan, Step } from '../../src/core/plan.ts'
import type { RunEvent, RunHistory, RunRecord } from '../../src/core/run.ts'
import type { Run } from '../../src/engine/run.ts'
import { standingOf } from '../../src/engine/records.ts'
import type { Journals } from '../../src/core/run.ts'
import { beginJournal, reopenJournal } from '../../src/engine/journal.ts'
import type { RunJournal } from '../../src/engine/journal.ts'
import { fakeRunStore, openFakes } from '../fakes/index.ts'
import type { FakeDeployment, FakeRunStore } from '../fakes/index.ts'

export const run = '20261121T021244Z-unlock-changelog-1f3a'
export const stuck = {
  id: 1,
  locked: true,
  lockGranted: '2026-11-20 23:00:00.000000',
  lockedBy: 'testops-1 (10.0.0.7)',
}
export const free = { id: 1, locked: false, lockGranted: null, lockedBy: null }

const stop: Step = { title: 'stop the service', action: { kind: 'stop-service', wasRunning: true }, interrupts: true }
const release: Step = {
  title: 'release the lock',
  action: {
    kind: 'release-lock',
    database: 'db.example.org:5432/testops',
    schema: 'public',
    row: { locked: true, lockGranted: stuck.lockGranted, lockedBy: stuck.lockedBy },
    accepts: 'live-holder',
  },
  interrupts: false,
}
const start: Step = { title: 'start the service', action: { kind: 'start-service' }, interrupts: false }

/** Stop, release, start, unless told otherwise. */
export function planOf(of: Partial<Plan> = {}): Plan {
  return {
    repair: 'unlock-changelog',
    deployment: 'prod',
    target: { database: 'db.example.org:5432/testops, PostgreSQL 15.8' },
    impact: { locksReleased: 1, serviceRestarts: 1 },
    evidence: [],
    notes: [],
    risks: [],
    steps: [stop, release, start],
    verifiedBy: ['database/changelog-lock'],
    options: { restart: true, schema: null },
    ...of,
  }
}

/** What its release passes over. */
const accepted = { name: 'live-holder', message: 'the holder is alive: pid 7', proof: ['wait until it has ended'] }

export function recordOf(of: Partial<RunRecord> = {}): RunRecord {
  return {
    schemaVersion: 1,
    run,
    program: '0.1.0',
    by: 'op@bastion',
    startedAt: '2026-11-21T02:12:44.000Z',
    plan: planOf({ risks: [accepted] }),
    acceptedRisks: [accepted.name],
    ...of,
  }
}

/** An event of this machine's operator, so many seconds after the run began. */
export function eventOf(
  event: RunEvent extends infer E ? (E extends RunEvent ? Omit<E, 'at' | 'by'> : never) : never,
  seconds = 0,
): RunEvent {
  return { at: new Date(Date.UTC(2026, 10, 21, 2, 12, 44 + seconds)).toISOString(), by: 'op@bastion', ...event }
}

export interface Machines extends Journals {
  here: FakeRunStore
  deployment: FakeRunStore
}

/** A machine's own journals and the deployment's. */
export function machine(
  deployment: FakeRunStore = fakeRunStore('the deployment'),
  here: FakeRunStore = fakeRunStore('this machine'),
): Machines {
  return { here, deployment, there: async () => deployment }
}

export interface Passing {
  /** names of failpoints that were reached, in their order */
  reached: string[]
  failpoint: (name: string) => Promise<void>
  /** resolves once the process is at the instant at which it was to be killed */
  killed: Promise<void>
}

/**
 * A process that is killed at that instant: it goes no further, and nothing of it comes back. Undefined: it lives on.
 */
export function passing(killAt?: string, times = 1): Passing {
  let tell: () => void = () => undefined
  let left = times
  const killed = new Promise<void>((resolve) => (tell = resolve))
  const reached: string[] = []
  return {
    reached,
    killed,
    async failpoint(name) {
      reached.push(name)
      if (name !== killAt || --left !== 0) return
      tell()
      await new Promise(() => undefined)
    },
  }
}

/** What a process does with a run, from its journals and the deployment alone. */
export function runOf(
  deployment: FakeDeployment,
  { record, events }: RunHistory,
  journal: RunJournal,
  of: Partial<Pick<Run, 'failpoint' | 'guard' | 'checks' | 'by' | 'others'>> & { signal?: AbortSignal } = {},
): Run {
  const { signal = new AbortController().signal, ...rest } = of
  return {
    record,
    events,
    journal,
    guard: { assertHeld: async () => undefined },
    by: 'op@bastion',
    commands: null,
    checks: [],
    onStep: () => undefined,
    failpoint: async () => undefined,
    ...rest,
    workshop: {
      deployment: {
        name: 'prod',
        platform: 'host',
        vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
        timeZone: 'UTC',
      },
      open: openFakes(deployment.sources),
      control: deployment.control,
      timeoutMs: 1000,
      patienceMs: 2000,
      isTested: true,
      progress: () => undefined,
      moving: () => undefined,
      given: new Map(),
      signal,
    },
  }
}

/** Begins a run as `runRepair` does; resolves with what it works with, or never where it is killed before. */
export async function begun(
  journals: Journals,
  deployment: FakeDeployment,
  failpoint = passing().failpoint,
  record = recordOf(),
): Promise<Run> {
  const journal = await beginJournal(journals, record, { by: 'op@bastion', failpoint })
  return runOf(deployment, { record, events: [] }, journal, { failpoint })
}

/** Goes on with a run as `resume` does. */
export async function goneOnWith(
  journals: Journals,
  deployment: FakeDeployment,
  { adopt = false, failpoint = passing().failpoint, by = 'op@bastion' } = {},
): Promise<Run> {
  const standing = await standingOf(journals, run, { adopt })
  const journal = await reopenJournal(journals, standing, { by, failpoint })
  return runOf(deployment, standing.history, journal, { failpoint, by })
}

/** The journal's events by their names: 'intent 1', 'done 1'. */
export function told({ events }: Pick<RunHistory, 'events'>): string[] {
  return events.map(
    (event) => event.event + ('step' in event ? ` ${event.step}` : event.event === 'ended' ? ` ${event.outcome}` : ''),
  )
}
