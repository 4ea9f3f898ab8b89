import type { ActionOf } from '../../core/action.ts'
import type { ApiControl, MigrationAnswer } from '../../core/api-control.ts'
import { AdminError } from '../../core/error.ts'
import { counted, grouped } from '../../core/format.ts'
import { roles } from '../../knowledge/api.ts'
import type { Workshop } from '../handler.ts'
import type { Answered, Failure } from './answers.ts'
import { answersIn, isTrouble, leftOf, missingIn, mostTimes, rangesOf } from './answers.ts'

/** The shortest time between two notes of answers */
const noteMs = 250
/** The most items that are recorded ahead of their request */
const mostAhead = 1000

/**
 * Hands out the items that are left to request, and records both: each item before its request, so that after a kill a
 * resumed run knows what the service may have accepted, and its result. One note serves many calls, so that none has to
 * wait.
 */
class Asking {
  readonly #left: readonly number[]
  readonly #maybe: Map<number, number>
  readonly #lanes: number
  readonly #workshop: Pick<Workshop, 'journal' | 'failpoint'>
  /** How many of the items left are recorded, and how many were handed out */
  #ahead = 0
  #asked = 0
  #askedBefore = 0
  #accepted: number[] = []
  #failed: Failure[] = []
  #untaken: number[] = []
  #notedAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  #noting: Promise<void> = Promise.resolve()

  /** `maybe`: how often each may have been taken before; `lanes`: calls under way at a time */
  constructor(
    left: readonly number[],
    maybe: ReadonlyMap<number, number>,
    lanes: number,
    workshop: Pick<Workshop, 'journal' | 'failpoint'>,
  ) {
    this.#left = left
    this.#maybe = new Map(maybe)
    this.#lanes = lanes
    this.#workshop = workshop
  }

  /** How many of the items left were handed out */
  get asked(): number {
    return this.#asked
  }

  /** The next item, recorded as requested; null: none is left. */
  async next(): Promise<number | null> {
    while (this.#asked >= this.#ahead) {
      if (this.#asked >= this.#left.length) return null
      await this.#note()
    }
    return this.#left[this.#asked++]!
  }

  /** True if the item may be requested once more although the service may have accepted it; if so, that is recorded. */
  async again(item: number): Promise<boolean> {
    if (this.#timesOf(item) >= mostTimes) return false
    this.#maybe.set(item, this.#timesOf(item) + 1)
    await this.#inTurn(async () => this.#write({ event: 'answered', accepted: [], failed: [], asking: [[item, item]] }))
    return true
  }

  /** Takes the result of one item, without waiting until it is recorded; calls `failed` if it cannot be. */
  took(outcome: number | Failure, failed: (error: unknown) => void): void {
    // each item is handed out once; keeping every record would grow memory with the list
    this.#maybe.delete(typeof outcome === 'number' ? outcome : outcome.item)
    if (typeof outcome === 'number') this.#accepted.push(outcome)
    else this.#failed.push(outcome)
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined
        this.#note().catch(failed)
      },
      Math.max(0, this.#notedAt + noteMs - performance.now()),
    )
  }

  /** Returns an item that was handed out but not sent, so that it is handed out again. */
  release(item: number): void {
    this.#untaken.push(item)
  }

  /** Records the rest once no call is under way, and which items were recorded but not requested. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#note(true)
  }

  async #note(isLast = false): Promise<void> {
    await this.#inTurn(async () => {
      const asking = isLast ? [] : this.#more()
      const unasked = isLast
        ? [...this.#untaken, ...this.#left.slice(this.#asked, this.#ahead)].sort((a, b) => a - b)
        : []
      const [accepted, failed] = [this.#accepted, this.#failed]
      if (accepted.length + failed.length + asking.length + unasked.length === 0) return
      this.#accepted = []
      this.#failed = []
      this.#notedAt = performance.now()
      this.#askedBefore = this.#asked
      for (const item of asking) this.#maybe.set(item, this.#timesOf(item) + 1)
      await this.#write({
        event: 'answered',
        accepted,
        failed,
        ...(asking.length > 0 && { asking: rangesOf(asking) }),
        ...(unasked.length > 0 && { unasked: rangesOf(unasked) }),
      })
      this.#ahead += asking.length
    })
  }

  /** The items to record now; of those that the service may have accepted before, only as many as run at a time. */
  #more(): number[] {
    const ready = this.#ahead - this.#asked
    const recent = this.#asked - this.#askedBefore
    const isDoubtful = (item: number): boolean => this.#timesOf(item) > 0
    const [next, ...others] = this.#left.slice(
      this.#ahead,
      this.#ahead + Math.min(mostAhead, Math.max(this.#lanes * 4, recent * 2)),
    )
    if (next === undefined || ready > (isDoubtful(next) ? 0 : recent)) return []
    const end = others.findIndex((item) => isDoubtful(item) !== isDoubtful(next))
    const alike = [next, ...(end < 0 ? others : others.slice(0, end))]
    return isDoubtful(next) ? alike.slice(0, this.#lanes) : alike
  }

  #timesOf(item: number): number {
    return this.#maybe.get(item) ?? 0
  }

  async #write(note: Answered): Promise<void> {
    await this.#workshop.journal.note(JSON.stringify(note))
    await this.#workshop.failpoint(note.accepted.length + note.failed.length > 0 ? 'noted' : 'announced')
  }

  /** Writes one note at a time: what comes in between goes into the next one. */
  async #inTurn(work: () => Promise<void>): Promise<void> {
    this.#noting = this.#noting.then(work)
    await this.#noting
  }
}

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
    return new AdminError('INTERRUPTED', `stopped after ${troublesInRow} failures in a row; last failure: ${message}`, [
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
      message: `${message}. Cannot tell whether the service accepted the call`,
      unknown: true,
    }
  if (httpStatus === 403)
    return {
      item,
      status: httpStatus,
      message:
        `${message}; the call needs the project role \`${roles.projectOwner}\` or the global role ` +
        `\`${roles.administrator}\``,
    }
  if (httpStatus === 404) return { item, status: httpStatus, message: `${missingIn(of)} does not exist: ${message}` }
  return { item, status: httpStatus, message }
}
