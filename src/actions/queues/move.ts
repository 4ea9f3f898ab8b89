import { randomBytes } from 'node:crypto'
import { counted } from '../../core/format.ts'
import { tolerant } from '../../domain/wanted.ts'
import type { Move } from '../../core/action.ts'
import type { Fits, MessageMover, Moved, Repeats } from '../../core/message-mover.ts'
import type { BrokerPolicy, BrokerQueue, QueueCounts } from '../../core/sources.ts'
import { AdminError } from '../../core/error.ts'
import { aheadOf, isBounded, refusedBeyond } from '../../knowledge/broker.ts'
import type { Workshop } from '../handler.ts'
import { accountsOf, leftOfReturned, repeatsIn } from './account.ts'
import type { Attempt, Came, Left } from './account.ts'
import type { Counts, Entry, Part, Way } from '../../core/notes.ts'
import { command, sentence } from '../../core/shell-command.ts'
import { policiesOn, refuseUnsafeHolding, refuseUnsafeReturn } from './policies.ts'
import { awaitedOf, countsOf, liveQueues, placesOf } from './queues.ts'
import { verifyMoved } from './verify-moved.ts'

/** The longest time between two notes of what was moved: queues may be many and small */
const noteMs = 1000

/** A queue to move, its counts before, and its earlier attempts in this run. */
interface Moving extends Move, Way {
  /** Null: another client reads from it */
  counts: Counts | null
  attempts: readonly Attempt[]
  othersIds: boolean
  /** What came back already, as the mover takes it */
  came: Readonly<Record<string, number>>
}

interface Options {
  /**
   * Which queues a move back verifies: `all`, also missing ones, which will not get messages back later; `there`:
   * existing ones only
   */
  verifies?: 'there' | 'all'
  /** A refusal after some messages were moved leaves the undo unfinished */
  isUndo?: true | undefined
  /** The queues vanish with this process, so any place for the messages is better than none */
  isLastChance?: true | undefined
}

/** Moves the messages of these queues aside, queue by queue; a missing queue has none. */
export async function putAside(
  all: readonly Move[],
  workshop: Workshop,
  { isUndo, isLastChance }: Options = {},
): Promise<void> {
  const there = await liveQueues(workshop)
  const moves = all.filter(({ queue }) => there.has(queue))
  if (moves.length === 0) return
  const vanishing = moves.filter(({ queue }) => there.get(queue)?.autoDelete)
  // the mover's own consumer comes and goes: a queue that would vanish with it is kept open
  if (vanishing.length > 0) await (await workshop.control.broker()).keep(vanishing.map(({ queue }) => queue))
  const { lastOf, attemptsOf } = accountsOf(workshop.journal.ofRun())
  const wasEmptied = (queue: string): boolean =>
    lastOf(queue)?.direction === 'aside' && attemptsOf(queue).at(-1)?.part !== null
  await tellOfMore(
    moves.filter(({ queue }) => there.get(queue)?.durable === true && wasEmptied(queue)),
    workshop,
  )
  for (const ahead of [undefined, true] as const) {
    await moveThose(
      moves.filter(({ queue }) => isAhead(there.get(queue), lastOf(queue)) === (ahead ?? false)),
      { direction: 'aside', ...(ahead && { ahead }) },
      workshop,
      { isUndo, isLastChance },
    )
  }
}

/**
 * Reports durable queues that were emptied and have messages again: other clients publish to them, or a killed broker
 * has restored what was acknowledged last.
 */
async function tellOfMore(moves: readonly Move[], workshop: Workshop): Promise<void> {
  const counts = await countsOf(
    moves.map(({ queue }) => queue),
    workshop,
  )
  for (const [queue, { ready }] of counts) {
    if (ready === 0) continue
    const text =
      `Queue ${queue} has received ${counted(ready, 'message')} since this run emptied it. If RabbitMQ has been ` +
      'killed since then, some may be duplicates of those moved aside'
    workshop.progress(text)
    workshop.result(text)
  }
}

/**
 * True if the messages in a queue belong before those that still wait. Returned messages do. After a move aside,
 * messages in the queue came later, unless an undo was cut off while it emptied a redeclared queue.
 */
function isAhead(queue: BrokerQueue | undefined, last: Way | null): boolean {
  if (last?.direction === 'aside') return last.ahead === true && queue?.durable === true
  return last !== null
}

/**
 * Moves waiting messages back, queue by queue; a missing queue gets none yet. Compares what came back with what was
 * moved aside. Throws INTERRUPTED once if they differ, so that an operator who knows of it can resume.
 */
export async function bringBack(
  all: readonly Move[],
  workshop: Workshop,
  { verifies = 'there', isUndo }: Options = {},
): Promise<void> {
  const there = await liveQueues(workshop)
  const moves = all.filter(({ queue }) => there.has(queue))
  const { lastOf } = accountsOf(workshop.journal.ofRun())
  const lost = await lostSince(
    moves.filter(({ queue }) => there.get(queue)?.durable === false),
    workshop,
  )
  // an undo that cannot be resumed goes forward again
  await putAside(
    moves.filter(({ queue }) => lastOf(queue)?.direction === 'aside' && isAhead(there.get(queue), lastOf(queue))),
    workshop,
    { isUndo },
  )
  await moveThose(
    moves.filter(({ holding }) => there.has(aheadOf(holding))),
    { direction: 'back', ahead: true },
    workshop,
    { isUndo },
  )
  const before = await countsOf(moves.flatMap(placesOf), workshop)
  await moveThose(moves, { direction: 'back' }, workshop, { isUndo })
  await verifyMoved(verifies === 'all' ? all : moves, { before, lost }, workshop)
}

/** Moves back messages that wait again although they came back: a killed broker restores what was acknowledged last. */
export async function bringBackRest(moves: readonly Move[], workshop: Workshop): Promise<void> {
  const rest = await awaitedOf(moves, workshop)
  if (rest.length === 0) return
  await refuseBeyondBound(rest, workshop)
  await bringBack(rest, workshop)
}

/**
 * Protects a bounded queue, which may drop or refuse other messages for duplicates. Throws INTERRUPTED if it is not
 * certain what such a queue already has.
 */
async function refuseBeyondBound(moves: readonly Move[], workshop: Workshop): Promise<void> {
  const { cameOf } = accountsOf(workshop.journal.ofRun())
  const { queues, policies } = await boundsNow(workshop)
  const counts = await countsOf(moves.flatMap(placesOf), workshop)
  const isProven = ({ queue }: Move): boolean =>
    Object.keys(provenThere(cameOf(queue), counts.get(queue) ?? null)).length > 0
  const doubtful = moves.find(
    (it) => queues.has(it.queue) && isBounded(queues.get(it.queue)!, policies) && !isProven(it),
  )
  if (!doubtful) return
  const held = [doubtful.holding, aheadOf(doubtful.holding)].find((name) => (counts.get(name)?.ready ?? 0) > 0)!
  throw new AdminError(
    'INTERRUPTED',
    `queue ${held} has messages that queue ${doubtful.queue} may already have. They were not moved back: ` +
      `${doubtful.queue} has a limit, so duplicates could push out other messages`,
    [
      command`rabbitmqctl list_queues name messages | grep -F ${doubtful.queue}   # on the broker`,
      sentence`if queue ${doubtful.queue} already has the messages, delete queue ${held}, then run the same command
        again`,
    ],
  )
}

/** Queues that have lost some of their returned messages, with the counts. */
async function lostSince(moves: readonly Move[], workshop: Workshop): Promise<ReadonlyMap<string, Left>> {
  const { attemptsOf, lastOf } = accountsOf(workshop.journal.ofRun())
  const begun = moves.filter(({ queue }) => lastOf(queue)?.direction === 'back')
  const counts = await countsOf(begun.flatMap(placesOf), workshop)
  const readyIn = (name: string): number => counts.get(name)?.ready ?? 0
  return new Map(
    begun.flatMap(({ queue, holding }) => {
      const left = leftOfReturned(attemptsOf(queue), {
        ready: readyIn(queue),
        held: readyIn(holding),
        ahead: readyIn(aheadOf(holding)),
      })
      return left === null || (counts.get(queue)?.consumers ?? 0) > 0 ? [] : [[queue, left] as const]
    }),
  )
}

/**
 * Moves messages back to queues that exist as they were. Messages that a move aside left behind, because it was cut
 * off, come later in order and are moved aside first; returned messages stay where they are.
 */
export async function takeBackAside(all: readonly Move[], workshop: Workshop): Promise<void> {
  const there = await liveQueues(workshop)
  const { lastOf } = accountsOf(workshop.journal.ofRun())
  // a queue that vanishes with its last reader would do so now; it was declared again and has no old messages
  const isRest = ({ queue }: Move): boolean =>
    there.get(queue)?.autoDelete === false && lastOf(queue)?.direction !== 'back'
  await putAside(all.filter(isRest), workshop, { isUndo: true })
  // a missing queue has no waiting messages: what it had is lost, and was reported
  await bringBack(all, workshop, { verifies: 'all', isUndo: true })
}

async function moveThose(
  moves: readonly Move[],
  way: Way,
  workshop: Workshop,
  { isUndo, isLastChance }: Options,
): Promise<void> {
  if (moves.length === 0) return
  const counts = await countsOf(moves.flatMap(placesOf), workshop)
  const broker = await workshop.control.broker()
  const kept = broker.kept()
  const heldBack = new Map<string, number>()
  for (const { queue } of moves)
    if (way.direction === 'aside' && kept.has(queue)) heldBack.set(queue, await broker.heldBack(queue))
  const accounts = accountsOf(workshop.journal.ofRun())
  const full = moves.flatMap((it): Moving[] => {
    const [held, beside] = way.ahead ? [aheadOf(it.holding), it.holding] : [it.holding, aheadOf(it.holding)]
    const source = counts.get(way.direction === 'aside' ? it.queue : held)
    const isKept = way.direction === 'aside' && kept.has(it.queue)
    // an unknown consumer may hold messages that do not count as ready: the mover reports that
    if (!isKept && (source?.ready ?? 0) + (source?.consumers ?? 0) === 0) return []
    const othersIds = accounts.of(it.queue, way.ahead)?.aside.every(({ part }) => part?.othersIds === 0) !== true
    const sound = soundCounts(counts.get(it.queue), counts.get(held), { isKept, heldBack: heldBack.get(it.queue) ?? 0 })
    const aside = counts.get(beside)?.ready ?? 0
    return [
      {
        queue: it.queue,
        holding: held,
        ...way,
        counts: sound && { ...sound, ...(aside > 0 && { beside: aside }) },
        attempts: accounts.attemptsOf(it.queue),
        othersIds,
        came: provenThere(accounts.cameOf(it.queue), sound),
      },
    ]
  })
  if (full.length === 0) return
  const those = moves.filter(({ queue }) => full.some((it) => it.queue === queue))
  if (way.direction === 'back') await refuseUnsafeReturn(those, workshop)
  else if (!isLastChance) await refuseUnsafeHolding(those, workshop)
  await attempt(full, way, workshop, isUndo)
}

/**
 * Returns which returned messages to leave out, if the queue has all that came last. If it lost some, or a client reads
 * from it, a duplicate is better than a loss.
 */
function provenThere(came: Came | null, counts: Pick<Counts, 'ready'> | null): Came['proven'] {
  return came && counts && counts.ready >= came.latest ? came.proven : {}
}

function soundCounts(
  queue: QueueCounts | undefined,
  held: QueueCounts | undefined,
  { isKept, heldBack }: { isKept: boolean; heldBack: number },
): Counts | null {
  if ((queue?.consumers ?? 0) > (isKept ? 1 : 0) || (held?.consumers ?? 0) > 0) return null
  return { ready: (queue?.ready ?? 0) + heldBack, held: held?.ready ?? 0 }
}

async function attempt(full: readonly Moving[], way: Way, workshop: Workshop, isUndo?: true): Promise<void> {
  const { control, journal, moving, failpoint } = workshop
  const id = randomBytes(8).toString('hex')
  const note = async (entry: Entry): Promise<void> => journal.note(JSON.stringify(entry))
  const policies = way.direction === 'aside' ? await policiesOn(full, workshop) : null
  // holding queues have no limits
  const bounds: Bounds = way.direction === 'back' ? await boundsNow(workshop) : { queues: new Map(), policies: null }
  await note({
    event: 'begun',
    ...way,
    ...(policies && { policies }),
    attempt: id,
    queues: Object.fromEntries(full.map(({ queue, counts }) => [queue, counts])),
  })
  const mover = await (await control.broker()).mover()
  const total = full.reduce(
    (sum, { counts }) => sum + ((way.direction === 'aside' ? counts?.ready : counts?.held) ?? 0),
    0,
  )
  let unnoted = new Map<string, Part>()
  let since = performance.now()
  const noteMoved = async (): Promise<void> => {
    if (unnoted.size === 0) return
    await note({ event: 'moved', ...way, attempt: id, queues: Object.fromEntries(unnoted) })
    unnoted = new Map()
    since = performance.now()
    await failpoint('noted')
  }
  let before = 0
  let done = 0
  try {
    for (const it of full) {
      const onProgress = ({ moved }: { moved: number }): void =>
        moving({ done: (done = before + moved), total, unit: 'messages' })
      const { moved, contents, othersIds, ...rest } = await moveOne(
        it,
        { mover, bounds, attempt: id, onProgress },
        workshop,
      )
      before += moved
      const { leftOut, again } = rest
      unnoted.set(it.queue, {
        contents,
        othersIds,
        ...(leftOut > 0 && { leftOut }),
        ...(again > 0 && { again }),
        ...(bounds.queues.get(it.queue)?.durable && { durable: true }),
      })
      tell(it, { othersIds, ...rest }, workshop)
      if (performance.now() - since > noteMs) await noteMoved()
    }
  } catch (error) {
    throw isUndo && done > 0 && error instanceof AdminError && error.code === 'REFUSED' ? halfDone(error) : error
  } finally {
    await noteMoved()
  }
}

/** The refusal as an interruption: the run must be resumed in the same direction, or messages lose their order. */
function halfDone(error: AdminError): AdminError {
  return new AdminError('INTERRUPTED', error.message, error.suggestions, { cause: error, obstacle: error.obstacle })
}

/** The limits of queues, by their own arguments and by policies. */
interface Bounds {
  queues: ReadonlyMap<string, BrokerQueue>
  /** Null: they cannot be seen */
  policies: readonly BrokerPolicy[] | null
}

async function boundsNow({ open }: Workshop): Promise<Bounds> {
  return { queues: await liveQueues({ open }), policies: (await tolerant((await open.broker()).policies())) ?? null }
}

interface Means {
  mover: MessageMover
  bounds: Bounds
  attempt: string
  onProgress: (so: { moved: number }) => void
}

async function moveOne(
  it: Moving,
  { mover, attempt: id, onProgress, bounds }: Means,
  workshop: Workshop,
): Promise<Moved> {
  const { queue, holding, direction, othersIds } = it
  // a restart has dropped everything that came back to a transient queue
  const came = bounds.queues.get(queue)?.durable ? it.came : {}
  const { control, signal, failpoint } = workshop
  const broker = await control.broker()
  // nothing waits unless a test asks for it
  const common = { onProgress, signal, ...(workshop.isTested && { failpoint }) }
  if (direction === 'aside') {
    const kept = broker.kept().has(queue) && {
      kept: { release: async () => broker.release(queue), keepAgain: async () => broker.keep([queue]) },
    }
    return mover.aside({ from: queue, to: holding, attempt: id, ...common, ...kept })
  }
  return mover.back({
    from: holding,
    to: queue,
    othersIds,
    came,
    repeats: repeatsOf(it, bounds),
    fits: fitsOf(it, bounds),
    ...common,
  })
}

/** How many messages must not come back twice, because the queue has a limit and would drop or refuse others. */
function repeatsOf({ queue, attempts, counts }: Moving, { queues, policies }: Bounds): Repeats | undefined {
  const most = counts ? repeatsIn(attempts, counts) : 0
  if (counts === null || most === 0) return undefined
  const of = queues.get(queue)
  return of && isBounded(of, policies) ? { most, isCut: counts.ready > 0 } : undefined
}

function fitsOf({ queue, attempts }: Moving, { queues, policies }: Bounds): Fits | undefined {
  const of = queues.get(queue)
  const bound = of && refusedBeyond(of, policies ?? [])
  return bound ? { ...bound, isCut: attempts.some(({ part }) => part === null) } : undefined
}

function tell(
  { queue, direction, attempts }: Moving,
  { perhapsTwice, othersIds, leftOut, again }: Pick<Moved, 'perhapsTwice' | 'othersIds' | 'leftOut' | 'again'>,
  { progress }: Workshop,
): void {
  // the service too may have received a message before
  const isCut = attempts.some(({ part }) => part === null)
  if (isCut && perhapsTwice > leftOut)
    progress(`Queue ${queue} may have ${counted(perhapsTwice, 'duplicate message')}, because a move was interrupted`)
  if (leftOut > 0)
    progress(
      `Queue ${queue} already has ${counted(leftOut, 'message')} from an interrupted move, so testops-admin ` +
        `did not add ${leftOut === 1 ? 'it' : 'them'} again`,
    )
  if (again > 0)
    progress(
      `After RabbitMQ was killed, it redelivered ${counted(again, 'message')} that queue ${queue} already has. ` +
        `testops-admin skipped ${again === 1 ? 'this duplicate' : 'these duplicates'}; nothing is lost`,
    )
  if (direction === 'back' && othersIds > 0)
    progress(
      `Queue ${queue}: ${counted(othersIds, 'message')} moved back without user_id, because the broker accepts ` +
        'a user_id only from that user',
    )
}
