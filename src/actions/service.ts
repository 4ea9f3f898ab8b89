import { setTimeout as sleep } from 'node:timers/promises'
import { tolerant } from '../domain/wanted.ts'
import { exact } from '../domain/queues/exact-bindings.ts'
import { AdminError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import type { ActionOf } from '../core/action.ts'
import type { ChangelogLockRow, Lack } from '../core/sources.ts'
import { answerOf, answers, unseenWatch, withLastWords } from './answers.ts'
import type { ActionHandler, Workshop } from './handler.ts'
import { hasDatabase, isAsSeen, rowOf } from './lock-row.ts'
import { holderText } from '../knowledge/lock.ts'
import { ownsFields } from './handler.ts'
import type { Binding } from '../core/broker-control.ts'
import { bindingsNoted } from '../core/notes.ts'
import { deleteLeft } from './queues/holding-queues.ts'
import { bringBackGone } from './queues/move-messages.ts'
import { keepOpen, refuseVanished } from './queues/queues.ts'
import { missing, possible } from './queues/switch-exchanges.ts'

const pollMs = 500
/** How often to see whether the service migrates */
const migratingMs = 5000
/** How long instances that differ from the declaration may still be terminating */
const lackingMs = 10_000
const wasLate: readonly ErrorCode[] = ['TIMED_OUT', 'FAILED']

export const startService: ActionHandler<'start-service'> = {
  failpoints: ['started'],
  async isDone(action, workshop) {
    const { state, isRollingOut } = await (await workshop.open.service()).status()
    // what serves now may be the former version
    return (
      state === 'running' &&
      isRollingOut !== true &&
      (await answers(workshop)) &&
      (await areFree(action, workshop)) &&
      (await isBound(action, workshop)) &&
      (await lacksOf(workshop)).length === 0 &&
      !(await ownsFields(workshop))
    )
  },
  // a service that has not answered yet, or failed later, was still started: the checks judge it
  async standsAs(_, { open }) {
    return (await (await open.service()).status()).state === 'stopped' ? 'not-done' : 'done'
  },
  askRights: async (_, { control }) => (await control.service()).askRights?.(null),
  async perform(action, workshop) {
    const { patienceMs: timeoutMs, signal, failpoint, progress } = workshop
    const end = performance.now() + timeoutMs
    await deleteLeft(workshop)
    const before = await lockBefore(action, workshop)
    await start(workshop)
    await failpoint('started')
    progress('waiting until the service answers')
    const refuseUnseen = unseenWatch(timeoutMs, 'the service was started and runs')
    let lackingUntil: number | null = null
    let lookedAt = performance.now()
    let told: HeldUp | null = null
    for (;;) {
      const answer = await answerOf(workshop)
      if (answer !== true && told === null && performance.now() - lookedAt > Math.min(migratingMs, timeoutMs / 10)) {
        lookedAt = performance.now()
        const held = await tolerant(heldLock(action, workshop))
        told = held && heldUp(held, before)
        if (told !== null) {
          const next = [told.next, 'Ctrl-C ends only this wait; to wait again, run `testops-admin resume`']
          progress(`the service ${told.is}. ${next.filter(Boolean).join('. ')}`)
        }
      }
      if (answer === true && (await areFree(action, workshop))) {
        const lacks = await lacksOf(workshop)
        if (lacks.length === 0) break
        lackingUntil ??= performance.now() + Math.min(lackingMs, timeoutMs / 2)
        if (performance.now() > lackingUntil) throw notAsDeclared(lacks)
      }
      refuseUnseen(answer)
      const { state, detail } = await (await workshop.open.service()).status()
      if (state !== 'running')
        throw await withLastWords(notUp(`the service started but did not stay up: ${detail}`), workshop)
      if (performance.now() > end) throw notUpYet(timeoutMs, answer === true, told)
      if (signal.aborted) throw new AdminError('INTERRUPTED', 'interrupted while waiting for the service to answer')
      await sleep(pollMs, undefined, { signal }).catch(() => undefined)
    }
    await bindAgain(action, workshop)
  },
  // a started service stays up, unless steps must be undone while it is stopped: undoing the stop starts it again
  isTakenBack: ({ stopsOnUndo }) => stopsOnUndo === true,
  async undo({ keeps = [] }, { open, control, patienceMs: timeoutMs, signal }) {
    if (keeps.length > 0) await keepOpen(keeps, { open, control })
    await (await control.service()).stop({ timeoutMs, signal })
  },
}

/** How long the service may take to declare its queues: it connects to the broker a moment after it answers */
const declaredMs = 10_000

/**
 * Restores bindings of others to the service's queues, which the service does not make. A binding whose end is missing
 * stays unbound, and is reported.
 */
async function bindAgain(action: ActionOf<'start-service'>, workshop: Workshop): Promise<void> {
  const { open, control, signal, result } = workshop
  const all = [...(action.binds ?? []), ...(action.binds ? bindingsNoted(workshop.journal.ofRun()) : [])]
  if (all.length === 0) return
  const end = performance.now() + Math.min(declaredMs, workshop.patienceMs)
  let left = await withoutEnd(all, { open })
  while (left.length > 0 && performance.now() < end && !signal.aborted) {
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
    left = await withoutEnd(all, { open })
  }
  await (await control.broker()).bind(exact(await missing(all, workshop)))
  if (left.length > 0 && signal.aborted)
    throw new AdminError('INTERRUPTED', 'interrupted while waiting for the service to declare its queues')
  for (const { source, destination } of left)
    result(`cannot restore the binding from exchange ${source} to ${destination}: one of them is missing`)
}

/** True if all bindings exist; one whose ends are missing counts as not bound. */
async function isBound({ binds = [] }: ActionOf<'start-service'>, workshop: Workshop): Promise<boolean> {
  const all = binds.length === 0 ? [] : [...binds, ...bindingsNoted(workshop.journal.ofRun())]
  return (
    all.length === 0 || ((await withoutEnd(all, workshop)).length === 0 && (await missing(all, workshop)).length === 0)
  )
}

async function withoutEnd(all: readonly Binding[], { open }: Pick<Workshop, 'open'>): Promise<Binding[]> {
  const both = new Set(await possible(all, { open }))
  return all.filter((it) => !both.has(it))
}

async function start(workshop: Workshop): Promise<void> {
  const { control, patienceMs: timeoutMs, signal, progress, journal } = workshop
  try {
    await (await control.service()).start({
      timeoutMs,
      signal,
      notes: journal.ofRun(),
      tell: (state) => progress(`waiting until the service is up: ${state}`),
    })
  } catch (error) {
    throw error instanceof AdminError && wasLate.includes(error.code) ? await withLastWords(error, workshop) : error
  }
}

/** How serving instances differ from the declaration, in the image and in settings that this run has set. */
async function lacksOf({ open, changed }: Workshop): Promise<readonly Lack[]> {
  return (await (await open.service()).lacks?.(changed)) ?? []
}

/** The error for a service that answers but differs from its declaration, with no change under way. */
function notAsDeclared(lacks: readonly Lack[]): AdminError {
  const proof = [...new Set(lacks.flatMap((it) => it.proof))]
  return new AdminError(
    'FAILED',
    `the service answers, but does not run with the image or settings that it should have: ${lacks
      .map(({ message }) => message)
      .slice(0, 3)
      .join('; ')}`,
    [...proof.slice(0, 4), 'testops-admin doctor -d {deployment}'],
  )
}

/**
 * Returns the first of the locks to wait for that is held; null if all are free: a service without a known API may
 * still be migrating. A database that the deployment no longer has does not count.
 */
async function heldLock(
  { locks = [] }: ActionOf<'start-service'>,
  workshop: Workshop,
): Promise<ChangelogLockRow | null> {
  for (const lock of locks) {
    const row = (await hasDatabase(lock, workshop)) ? await rowOf(lock, workshop) : null
    if (row?.locked) return row
  }
  return null
}

async function areFree(action: ActionOf<'start-service'>, workshop: Workshop): Promise<boolean> {
  return (await heldLock(action, workshop)) === null
}

/** Returns the lock that is held before a start; 'unknown' if it cannot be read, or the service may hold it itself. */
async function lockBefore(
  action: ActionOf<'start-service'>,
  workshop: Workshop,
): Promise<ChangelogLockRow | null | 'unknown'> {
  const status = await tolerant(workshop.open.service().then(async (it) => it.status()))
  if (status?.state !== 'stopped') return 'unknown'
  const seen = await tolerant(heldLock(action, workshop).then((row) => ({ row })))
  return seen ? seen.row : 'unknown'
}

/** Why a service does not answer while the change-log lock is held: what it does, and what tells more. */
interface HeldUp {
  is: string
  next?: string
}

function heldUp(held: ChangelogLockRow, before: ChangelogLockRow | null | 'unknown'): HeldUp {
  const migrating = 'is migrating its database, which can take hours'
  const holder = held.lockedBy === null ? 'somebody' : holderText(held.lockedBy)
  if (before === 'unknown') return { is: `${migrating}, or waiting for the change-log lock of ${holder}` }
  if (before === null || !isAsSeen(held, before)) return { is: migrating }
  return {
    is: `may be waiting for the change-log lock, which ${holder} already held before the start`,
    next: '`testops-admin doctor` shows whether the holder is at work',
  }
}

/** The error for a service that is not up yet; it may still come, and a resumed run waits again. */
function notUpYet(waitedMs: number, isUp: boolean, told: HeldUp | null): AdminError {
  const what = isUp ? 'answers, but its change-log lock is still held' : 'is running, but has not answered'
  return new AdminError(
    'TIMED_OUT',
    `the service ${what} after ${Math.round(waitedMs / 1000)} s: it ${told?.is ?? 'may still be migrating'}`,
    ['{logs}', 'testops-admin doctor -d {deployment}'],
  )
}

function notUp(message: string): AdminError {
  return new AdminError('FAILED', message, ['{logs}', 'testops-admin doctor -d {deployment}'])
}

async function tryStop(_: object, { control }: Pick<Workshop, 'control'>): Promise<void> {
  await (await control.service()).tryStop?.()
}

export const stopService: ActionHandler<'stop-service'> = {
  failpoints: ['stopped'],
  async isDone(_, workshop) {
    return (await (await workshop.open.service()).status()).state === 'stopped' && !(await ownsFields(workshop))
  },
  // the steps that need it stopped check that themselves
  standsAs: async () => 'untold',
  // a missing right must show before users are cut off or a run begins
  async foresee(action, workshop) {
    await tryStop(action, workshop)
  },
  askRights: async (_, { control }) => (await control.service()).askRights?.(null),
  async perform(_, { control, patienceMs: timeoutMs, progress, signal, failpoint, journal }) {
    progress('waiting for the service and its processes to stop')
    await (await control.service()).stop({
      timeoutMs,
      signal,
      note: async (text) => journal.note(text),
      tell: (state) => progress(`waiting for the service to stop: ${state}`),
    })
    await failpoint('stopped')
  },
  async undo({ wasRunning }, workshop) {
    const { open, control, patienceMs: timeoutMs, signal, journal } = workshop
    // a service that runs again handles its queues itself
    if ((await (await open.service()).status()).state === 'stopped') {
      await bringBackGone(workshop)
      await refuseVanished(workshop, { isUndone: true })
    }
    if (wasRunning) await (await control.service()).start({ timeoutMs, signal, notes: journal.ofRun() })
  },
}
