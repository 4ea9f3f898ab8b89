import { counted, grouped } from '../../checks/support/format.ts'
import type { ActionOf } from '../../core/action.ts'
import type { ApiControl, MigrationAnswer } from '../../core/api-control.ts'
import { AdminError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { FailedItem } from '../../core/repair-document.ts'
import { roles } from '../../knowledge/roles.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { accountOf, answersIn, isTrouble, leftOf, missingIn } from './answers.ts'
import type { Answered, Failure } from './answers.ts'

type Migrate = ActionOf<'migrate-trees'>

/** so many in a row that the service could not take, and it is left alone */
const troublesInRow = 5
/** what was answered is noted so often at most */
const noteMs = 250
/** where there was no answer of the service, and there may be one to the next call */
const troubles: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['UNREACHABLE', 'TIMED_OUT', 'EXHAUSTED', 'UNEXPECTED_ANSWER'])

export const migrateTrees: ActionHandler<'migrate-trees'> = {
  failpoints: ['asking', 'answered', 'noted'],
  async isDone({ items }, { journal }) {
    return leftOf(items, answersIn(journal.notes)).left.length === 0
  },
  async perform(action, workshop) {
    await new Migration(action, await controlOf(action, workshop), workshop).run()
  },
  async foresee(action, workshop) {
    await controlOf(action, workshop)
  },
  // a tree that has the new structure is not given the old one again
  undo: null,
  account: ({ items }, notes) => accountOf(items, notes),
  shortfall({ items }, notes) {
    const { failed, requested } = accountOf(items, notes)
    return failed.length === 0 ? null : { message: `${failed.length} of ${counted(requested, 'call')} failed`, suggestions: again(failed) }
  },
}

/** Throws REFUSED where the configuration names another service by now. */
async function controlOf({ api }: Migrate, { control }: Workshop): Promise<ApiControl> {
  const found = await control.api()
  if (found.target === api) return found
  throw new AdminError('REFUSED', `the plan was made for ${api}, and the deployment's address is ${found.target} now`)
}

/** what a line can hold for people */
const mostNamed = 20

function again(failed: readonly FailedItem[]): string[] {
  const words = failed.map(({ project, tree }) => (tree === undefined ? `--project ${project}` : `--tree ${project}/${tree}`))
  return words.length > mostNamed ? [] : [`testops-admin migrate-trees -d {deployment} ${words.join(' ')}   # once the cause is gone`]
}

/** Asks for what is left, several at a time, each answer on record. */
class Migration {
  readonly #action: Migrate
  readonly #control: ApiControl
  readonly #workshop: Workshop
  readonly #left: readonly number[]
  /** how many of them come first that have not been asked for before */
  readonly #fresh: number
  #asked = 0
  #answered: number
  #inRow = 0
  /** what keeps it from asking for more */
  #stop: { reason: unknown } | null = null
  #accepted: number[] = []
  #failed: Failure[] = []
  #notedAt = -Infinity
  #timer: NodeJS.Timeout | undefined
  #noting: Promise<void> = Promise.resolve()

  constructor(action: Migrate, control: ApiControl, workshop: Workshop) {
    this.#action = action
    this.#control = control
    this.#workshop = workshop
    const { left, fresh } = leftOf(action.items, answersIn(workshop.journal.notes))
    this.#left = left
    this.#fresh = fresh
    this.#answered = action.items.length - this.#left.length
  }

  /** Throws what stopped it: what was answered until then is on record. */
  async run(): Promise<void> {
    const lanes = Math.min(this.#action.concurrency, this.#left.length)
    await Promise.all(Array.from({ length: lanes }, async () => this.#lane()))
    clearTimeout(this.#timer)
    await this.#note()
    if (this.#stop !== null) throw this.#stop.reason
    if (this.#answered < this.#action.items.length) throw this.#interrupted()
  }

  async #lane(): Promise<void> {
    try {
      while (this.#stop === null && !this.#workshop.signal.aborted && this.#asked < this.#left.length) {
        const item = this.#left[this.#asked]!
        this.#asked += 1
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

  /** Null: interrupted before the answer was there, so that whoever goes on asks again. */
  async #ask(index: number): Promise<MigrationAnswer | null> {
    const { signal } = this.#workshop
    try {
      return await this.#control.migrateTrees(this.#action.items[index]!, { signal })
    } catch (error) {
      if (signal.aborted) return null
      if (error instanceof AdminError && troubles.has(error.code)) return { status: 'refused', httpStatus: 0, message: error.message }
      throw error
    }
  }

  #take(item: number, answer: MigrationAnswer): void {
    this.#answered += 1
    // of what was left when this process began: the rate is its own
    const total = this.#left.length
    this.#workshop.moving({ done: this.#answered - (this.#action.items.length - total), total, unit: 'calls' })
    this.#noteSoon()
    if (answer.status === 'accepted') {
      this.#accepted.push(item)
      this.#inRow = 0
      return
    }
    const failure = { item, status: answer.httpStatus, message: explained(answer, this.#action.items[item]!) }
    this.#failed.push(failure)
    if (!isTrouble(failure)) {
      this.#inRow = 0
      return
    }
    this.#inRow += 1
    // those that failed before may well fail again: that says nothing of the service as long as it answers
    const isTelling = this.#asked < this.#fresh || failure.status === 0 || failure.status === 429
    if (this.#inRow >= troublesInRow && isTelling && this.#asked < this.#left.length) this.#stop ??= { reason: this.#tooMany(failure) }
  }

  /** One note at a time: what comes meanwhile goes into the next. */
  async #note(): Promise<void> {
    this.#noting = this.#noting.then(async () => {
      const [accepted, failed] = [this.#accepted, this.#failed]
      if (accepted.length + failed.length === 0) return
      this.#accepted = []
      this.#failed = []
      this.#notedAt = performance.now()
      await this.#workshop.journal.note(JSON.stringify({ event: 'answered', accepted, failed } satisfies Answered))
      await this.#workshop.failpoint('noted')
    })
    await this.#noting
  }

  /** Nobody waits for it: a call more or less is asked for again where the process is killed. */
  #noteSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#note().catch((error: unknown) => (this.#stop ??= { reason: error }))
    }, Math.max(0, this.#notedAt + noteMs - performance.now()))
  }

  #tooMany({ message }: Failure): AdminError {
    return new AdminError('INTERRUPTED', `stopped after ${troublesInRow} failures in a row, the last: ${message}`, ['testops-admin doctor -d {deployment}'])
  }

  #interrupted(): AdminError {
    const reason: unknown = this.#workshop.signal.reason
    const by = reason instanceof AdminError ? reason.message : 'interrupted'
    return new AdminError('INTERRUPTED', `${by} after ${grouped(this.#answered)} of ${counted(this.#action.items.length, 'call')}`)
  }
}

/** What the service said, and what that means (SPEC.md 4.3). */
function explained({ httpStatus, message }: Extract<MigrationAnswer, { status: 'refused' }>, item: Migrate['items'][number]): string {
  if (httpStatus === 403) return `${message}; it takes the project role \`${roles.projectOwner}\` or the global role \`${roles.administrator}\``
  if (httpStatus === 404) return `there is no ${missingIn(item)}: ${message}`
  return message
}
