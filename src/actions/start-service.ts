import { setTimeout as sleep } from 'node:timers/promises'
import { exact } from '../domain/queues/exact-bindings.ts'
import { AdminError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import type { ActionOf } from '../core/action.ts'
import type { Lack } from '../core/sources.ts'
import { answerOf, answers, unseenWatch } from './answers.ts'
import type { ActionHandler, Workshop } from './handler.ts'
import { withLastWords } from './last-words.ts'
import { hasDatabase, rowOf } from './lock-row.ts'
import { ownsFields } from './owned-fields.ts'
import type { Binding } from '../core/topology.ts'
import { bindingsNoted } from '../core/queue-notes.ts'
import { deleteLeft } from './queues/delete-held.ts'
import { keepOpen } from './queues/queues.ts'
import { missing, possible } from './queues/switch-exchanges.ts'

const pollMs = 500
/** so long instances that lack what is declared may still be on their way out */
const lackingMs = 10_000
const wasLate: readonly ErrorCode[] = ['TIMED_OUT', 'FAILED']

export const startService: ActionHandler<'start-service'> = {
  failpoints: ['started'],
  async isDone(action, workshop) {
    const { state, isRollingOut } = await (await workshop.open.service()).status()
    // what serves may be of before
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
  // one that was started and has not answered yet, or has failed since, was started all the same: the checks judge it
  async standsAs(_, { open }) {
    return (await (await open.service()).status()).state === 'stopped' ? 'not-done' : 'done'
  },
  async perform(action, workshop) {
    const { patienceMs: timeoutMs, signal, failpoint, progress } = workshop
    const end = performance.now() + timeoutMs
    await deleteLeft(workshop)
    await start(workshop)
    await failpoint('started')
    progress('waiting until the service answers')
    const refuseUnseen = unseenWatch(timeoutMs, 'the service was started and runs')
    let lackingUntil: number | null = null
    for (;;) {
      const answer = await answerOf(workshop)
      if (answer === true && (await areFree(action, workshop))) {
        const lacks = await lacksOf(workshop)
        if (lacks.length === 0) break
        lackingUntil ??= performance.now() + Math.min(lackingMs, timeoutMs / 2)
        if (performance.now() > lackingUntil) throw notAsDeclared(lacks)
      }
      refuseUnseen(answer)
      const { state, detail } = await (await workshop.open.service()).status()
      if (state !== 'running')
        throw await withLastWords(notUp(`the service was started and has ended: ${detail}`), workshop)
      if (performance.now() > end) throw notUpYet(timeoutMs, answer === true)
      if (signal.aborted) throw new AdminError('INTERRUPTED', 'interrupted while waiting for the service to answer')
      await sleep(pollMs, undefined, { signal }).catch(() => undefined)
    }
    await bindAgain(action, workshop)
  },
  // what was started stays up, but for steps that cannot be taken back under it: the stopping before them starts it
  // again
  isTakenBack: ({ stopsOnUndo }) => stopsOnUndo === true,
  async undo({ keeps = [] }, { open, control, patienceMs: timeoutMs, signal }) {
    if (keeps.length > 0) await keepOpen(keeps, { open, control })
    await (await control.service()).stop({ timeoutMs, signal })
  },
}

/**
 * The service declares what is its own as soon as it is connected to the broker, which may be a moment after it
 * answers.
 */
const declaredMs = 10_000

/**
 * Bindings of others to its queues, which the service does not make. What it declares no more stays unbound, and is
 * told.
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
    result(`${destination} is not bound to exchange ${source} again: one of the two is not there`)
}

/** Whether all of them are there; one whose ends are still to be declared is not. */
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

/** What instances that serve lack of what is declared, of its image and of what this run has set. */
async function lacksOf({ open, changed }: Workshop): Promise<readonly Lack[]> {
  return (await (await open.service()).lacks?.(changed)) ?? []
}

/** It answers, and nothing changes by itself any more. */
function notAsDeclared(lacks: readonly Lack[]): AdminError {
  const proof = [...new Set(lacks.flatMap((it) => it.proof))]
  return new AdminError(
    'FAILED',
    `the service answers, but not as it is declared: ${lacks
      .map(({ message }) => message)
      .slice(0, 3)
      .join('; ')}`,
    [...proof.slice(0, 4), 'testops-admin doctor -d {deployment}'],
  )
}

/**
 * A service without an API that is known may still migrate, and answers to nobody: its lock tells. A database that the
 * deployment has no longer does not keep its service from being started.
 */
async function areFree({ locks = [] }: ActionOf<'start-service'>, workshop: Workshop): Promise<boolean> {
  for (const lock of locks)
    if ((await hasDatabase(lock, workshop)) && (await rowOf(lock, workshop))?.locked) return false
  return true
}

/** It may well come: whoever goes on with the run goes on waiting. */
function notUpYet(waitedMs: number, isUp: boolean): AdminError {
  const what = isUp ? 'answers, and its change-log lock has not been free' : 'runs and has not answered'
  return new AdminError(
    'TIMED_OUT',
    `the service ${what} for ${Math.round(waitedMs / 1000)} s: it may still be migrating`,
    ['{logs}', 'testops-admin doctor -d {deployment}'],
  )
}

function notUp(message: string): AdminError {
  return new AdminError('FAILED', message, ['{logs}', 'testops-admin doctor -d {deployment}'])
}
