import { counted, grouped } from '../../core/format.ts'
import type { ActionOf } from '../../core/action.ts'
import type { ApiControl, MigrationAnswer } from '../../core/api-control.ts'
import { AdminError } from '../../core/error.ts'
import { roles } from '../../knowledge/roles.ts'
import type { Workshop } from '../handler.ts'
import { answersIn, isTrouble, leftOf, missingIn } from './answers.ts'
import type { Failure } from './answers.ts'
import { Asking } from './asking.ts'

type Migrate = ActionOf<'migrate-trees'>

/** How many failures of the service in a row stop the run */
const troublesInRow = 5

/** Requests what is left, several calls at a time, and records each answer. */
export class Migration {
  readonly #action: Migrate
  readonly #control: ApiControl
  readonly #workshop: Workshop
  readonly #asking: Asking
  readonly #left: number
  /** How many of them are requested for the first time; these come first */
  readonly #fresh: number
  readonly #lanes: number
  #answered: number
  #inRow = 0
  /** Why it stops requesting */
  #stop: { reason: unknown } | null = null

  constructor(action: Migrate, control: ApiControl, workshop: Workshop) {
    this.#action = action
    this.#control = control
    this.#workshop = workshop
    const answers = answersIn(workshop.journal.notes, action.items.length)
    const { left, fresh } = leftOf(action.items, answers)
    this.#left = left.length
    this.#fresh = fresh
    this.#lanes = Math.min(action.concurrency, left.length)
    this.#answered = action.items.length - left.length
    this.#asking = new Asking(left, answers.maybe, this.#lanes, workshop)
  }

  /** Runs until all calls are answered, or throws what stopped it: all answers until then are recorded. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#lanes }, async () => this.#lane()))
    await this.#asking.end()
    if (this.#stop !== null) throw this.#stop.reason
    if (this.#answered < this.#action.items.length) throw this.#interrupted()
  }

  async #lane(): Promise<void> {
    try {
      while (this.#stop === null && !this.#workshop.signal.aborted) {
        const item = await this.#asking.next()
        if (item === null) return
        await this.#workshop.failpoint('asking')
        const answer = await this.#ask(item)
        if (answer === null) return
        await this.#workshop.failpoint('answered')
        this.#take(item, answer)
      }
    } catch (error) {
      this.#stop ??= { reason: error }
    }
  }

  /** The answer to one call; null: interrupted before it came, so that a resumed run calls again. */
  async #ask(item: number): Promise<MigrationAnswer | null> {
    const { signal, patienceMs, progress } = this.#workshop
    let isUnderway = false
    try {
      return await this.#control.migrateTrees(this.#action.items[item]!, {
        signal,
        patienceMs,
        again: async () => this.#asking.again(item),
        underway: (is) => (isUnderway = is),
        waiting: progress,
      })
    } catch (error) {
      if (!isUnderway) this.#asking.release(item)
      if (signal.aborted) return null
      throw error
    }
  }

  #take(item: number, answer: MigrationAnswer): void {
    this.#answered += 1
    // counts only what this process does, for its own rate
    const total = this.#left
    this.#workshop.moving({ done: this.#answered - (this.#action.items.length - total), total, unit: 'calls' })
    const failure = answer.status === 'accepted' ? null : failureOf(item, answer, this.#action.items[item]!)
    this.#asking.took(failure ?? item, (error) => (this.#stop ??= { reason: error }))
    if (failure === null || !isTrouble(failure)) {
      this.#inRow = 0
      return
    }
    this.#inRow += 1
    const { asked } = this.#asking
    // items that failed before may well fail again: while the service answers, that says nothing about it
    const isTelling = asked < this.#fresh || failure.status === 0 || failure.status === 429
    if (this.#inRow >= troublesInRow && isTelling && asked < total) this.#stop ??= { reason: this.#tooMany(failure) }
  }

  #tooMany({ message }: Failure): AdminError {
    return new AdminError('INTERRUPTED', `stopped after ${troublesInRow} failures in a row, the last: ${message}`, [
      'testops-admin doctor -d {deployment}',
    ])
  }

  #interrupted(): AdminError {
    const reason: unknown = this.#workshop.signal.reason
    const by = reason instanceof AdminError ? reason.message : 'interrupted'
    return new AdminError(
      'INTERRUPTED',
      `${by} after ${grouped(this.#answered)} of ${counted(this.#action.items.length, 'call')}`,
    )
  }
}

/** What the service answered, and what it means (SPEC.md 4.3). */
function failureOf(
  item: number,
  { status, httpStatus, message }: Exclude<MigrationAnswer, { status: 'accepted' }>,
  of: Migrate['items'][number],
): Failure {
  if (status === 'unknown')
    return {
      item,
      status: httpStatus,
      message: `${message}. Cannot tell whether the service accepted it`,
      unknown: true,
    }
  if (httpStatus === 403)
    return {
      item,
      status: httpStatus,
      message: `${message}; this needs the project role \`${roles.projectOwner}\` or the global role \`${roles.administrator}\``,
    }
  if (httpStatus === 404) return { item, status: httpStatus, message: `there is no ${missingIn(of)}: ${message}` }
  return { item, status: httpStatus, message }
}
