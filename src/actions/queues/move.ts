import { randomBytes } from 'node:crypto'
import { counted } from '../../checks/support/format.ts'
import { tolerant } from '../../checks/support/wanted.ts'
import type { Move } from '../../core/action.ts'
import type { MessageMover, Moved, Repeats } from '../../core/message-mover.ts'
import type { QueueCounts } from '../../core/sources.ts'
import { isBounded } from '../../knowledge/broker.ts'
import type { Workshop } from '../handler.ts'
import { accountsOf } from './account.ts'
import type { Account, Counts, Direction, Entry, Part } from './account.ts'
import { repeatsIn } from './comparison.ts'
import { countsOf, liveQueues } from './queues.ts'
import { verifyMoved } from './verify-moved.ts'

/** what was moved is noted when the last note is so old, and at the end: queues may be many and small */
const noteMs = 1000

/** What is moved: a queue, how it stands before, and what this run has done with it. */
interface Moving extends Move {
  /** null: somebody else reads it */
  counts: Counts | null
  account: Account | null
}

/**
 * Moves what is there now, queue by queue; one that is missing has nothing to move, and takes nothing back yet. On the way back, what
 * came is compared with what went: throws INTERRUPTED where it is not the same, once, so that whoever knows of it can go on. `verifies`:
 * also of queues that are missing, which take nothing back later either.
 */
export async function move(direction: Direction, all: readonly Move[], workshop: Workshop, { verifies = 'there' }: { verifies?: 'there' | 'all' } = {}): Promise<void> {
  const { control, journal } = workshop
  const there = await liveQueues(workshop)
  const moves = all.filter(({ queue }) => there.has(queue))
  const counts = await countsOf(moves.flatMap(({ queue, holding }) => [queue, holding]), workshop)
  await keepVanishing(direction, moves, workshop)
  const kept = (await control.broker()).kept()
  const accounts = accountsOf(journal.ofRun())
  const full = moves.flatMap((it): Moving[] => {
    const source = counts.get(direction === 'aside' ? it.queue : it.holding)
    const isKept = direction === 'aside' && kept.has(it.queue)
    // a consumer that nobody knows of may hold what is not counted as ready: the mover says so
    if (!isKept && (source?.ready ?? 0) + (source?.consumers ?? 0) === 0) return []
    return [{ ...it, counts: soundCounts(counts.get(it.queue), counts.get(it.holding), isKept), account: accounts.of(it.queue) }]
  })
  if (full.length > 0) await moveThose(direction, full, workshop)
  if (direction === 'back') await verifyMoved(verifies === 'all' ? all : moves, counts, workshop)
}

function soundCounts(queue: QueueCounts | undefined, held: QueueCounts | undefined, isKept: boolean): Counts | null {
  if ((queue?.consumers ?? 0) > (isKept ? 1 : 0) || (held?.consumers ?? 0) > 0) return null
  return { ready: queue?.ready ?? 0, held: held?.ready ?? 0 }
}

async function moveThose(direction: Direction, full: readonly Moving[], workshop: Workshop): Promise<void> {
  const { control, journal, moving, failpoint } = workshop
  const attempt = randomBytes(8).toString('hex')
  const note = async (entry: Entry): Promise<void> => journal.note(JSON.stringify(entry))
  await note({ event: 'begun', direction, attempt, queues: Object.fromEntries(full.map(({ queue, counts }) => [queue, counts])) })
  const mover = await (await control.broker()).mover()
  const total = full.reduce((sum, { counts }) => sum + ((direction === 'aside' ? counts?.ready : counts?.held) ?? 0), 0)
  let unnoted = new Map<string, Part>()
  let since = performance.now()
  const noteMoved = async (): Promise<void> => {
    if (unnoted.size === 0) return
    await note({ event: 'moved', direction, attempt, queues: Object.fromEntries(unnoted) })
    unnoted = new Map()
    since = performance.now()
    await failpoint('noted')
  }
  let before = 0
  try {
    for (const it of full) {
      const onProgress = ({ moved }: { moved: number }): void => moving({ done: before + moved, total, unit: 'messages' })
      const { moved, contents, othersIds, ...rest } = await moveOne(direction, it, { mover, attempt, onProgress }, workshop)
      before += moved
      unnoted.set(it.queue, { contents, othersIds })
      tell(direction, it, { othersIds, ...rest }, workshop)
      if (performance.now() - since > noteMs) await noteMoved()
    }
  } finally {
    await noteMoved()
  }
}

interface Means {
  mover: MessageMover
  attempt: string
  onProgress: (so: { moved: number }) => void
}

async function moveOne(direction: Direction, it: Moving, { mover, attempt, onProgress }: Means, workshop: Workshop): Promise<Moved> {
  const { queue, holding, account } = it
  const { control, signal, failpoint } = workshop
  const broker = await control.broker()
  // without a test that waits for it, nothing is held up
  const common = { onProgress, signal, ...(workshop.isTested && { failpoint }) }
  if (direction === 'aside') {
    const kept = broker.kept().has(queue) && { kept: { release: async () => broker.release(queue), keepAgain: async () => broker.keep([queue]) } }
    return mover.aside({ from: queue, to: holding, attempt, ...common, ...kept })
  }
  const othersIds = account?.aside.every(({ part }) => part?.othersIds === 0) !== true
  return mover.back({ from: holding, to: queue, othersIds, repeats: await repeatsOf(it, workshop), ...common })
}

/** What must not come back twice, since the queue would drop others for it, or refuse to take it. */
async function repeatsOf({ queue, account, counts }: Moving, { open }: Workshop): Promise<Repeats | undefined> {
  const most = counts && account ? repeatsIn(account, counts) : 0
  if (account === null || most === 0) return undefined
  const of = (await liveQueues({ open })).get(queue)
  const policies = (await tolerant((await open.broker()).policies())) ?? null
  return of && isBounded(of, policies) ? { most, isCut: account.back.length > 0 } : undefined
}

function tell(direction: Direction, { queue, account }: Moving, { perhapsTwice, othersIds, leftOut }: Pick<Moved, 'perhapsTwice' | 'othersIds' | 'leftOut'>, { progress }: Workshop): void {
  // a message may have been delivered before to the service as well
  const isCut = account?.[direction].some(({ part }) => part === null)
  if (isCut && perhapsTwice > leftOut) progress(`${queue}: ${counted(perhapsTwice, 'message')} had been delivered before, and may be there twice, since a move was cut off`)
  if (leftOut > 0) progress(`${queue}: ${counted(leftOut, 'message')} left out that a move which was cut off had put there already`)
  if (direction === 'back' && othersIds > 0) progress(`${queue}: ${counted(othersIds, 'message')} came back without user_id, which the broker takes from that user alone`)
}

/** The mover's own consumer comes and goes: a queue that would go with it is held open meanwhile. */
async function keepVanishing(direction: Direction, moves: readonly Move[], { open, control }: Workshop): Promise<void> {
  if (direction === 'back') return
  const queues = await liveQueues({ open })
  const vanishing = moves.filter(({ queue }) => queues.get(queue)?.autoDelete)
  if (vanishing.length > 0) await (await control.broker()).keep(vanishing.map(({ queue }) => queue))
}
