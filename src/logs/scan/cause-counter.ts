import { argumentConflicts, unknownHostAt } from '../../knowledge/log-signatures.ts'
import { agentCounts, isFilesBeforeAgent, signatures } from '../../knowledge/signatures.ts'
import type { SignatureId } from '../../knowledge/signatures.ts'
import { keeper } from './keeper.ts'
import type { Keeper } from './keeper.ts'
import { rateCounter } from './rate.ts'
import type { OpenRecord } from './record-finder.ts'
import type { Sample } from './sample.ts'
import { kept } from './tally.ts'
import type { Cause } from './tally.ts'

/** Remembers what is read of the last few different texts, since services repeat themselves. */
function remembered<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    if (known.size >= 50) known.clear()
    const it = read(text)
    known.set(text, it)
    return it
  }
}

/** Counts what is found of one signature. */
export interface CauseCounter {
  /** True if nothing was found yet, so that the number of the first line is needed */
  isFirst(): boolean
  /**
   * Counts a line with the signature, once for each line; `lineNumber` is that of the first one. Returns true if
   * another sample is wanted, unless it is like one that is kept
   */
  line(record: OpenRecord, lineNumber: number): boolean
  isKept: Keeper<Sample>['some']
  sample(sample: Sample): void
  /** True if the text at each match is read */
  readonly reads: boolean
  /** Reads a match in a record; `text` is the text around or after it, as far as it is near */
  place(record: OpenRecord, text: string): void
  /** Adds what was found in a part of the stream that begins after `linesBefore` lines */
  join(cause: Cause, linesBefore: number): void
  /** Null if nothing was found */
  cause(): Cause | null
}

export function causeCounter(id: SignatureId): CauseCounter {
  const index = signatures.findIndex((it) => it.id === id)
  const bit = 1 << index
  let [count, untimed, records, firstLine] = [0, 0, 0, 0]
  let first: number | null = null
  let last: number | null = null
  const hosts = new Map<string, number>()
  const samples = keeper<Sample>(kept.samples, ({ kind }) => kind)
  const conflicts = keeper(kept.conflicts, (it: Cause['conflicts'][number]) => JSON.stringify(it))
  const agents = keeper(kept.agents, (it: Cause['agents'][number]) => JSON.stringify(it))
  const rate = rateCounter()
  const hostAt = remembered(unknownHostAt)
  const conflictsIn = remembered((text) => argumentConflicts(text).slice(0, 1))
  let isWorse = false

  const isKept = (name: string): boolean => hosts.has(name) || hosts.size < kept.hosts
  const host = (name: string, times: number): void => {
    if (isKept(name)) hosts.set(name, (hosts.get(name) ?? 0) + times)
  }
  const seenAt = (from: number, to: number): void => {
    first = Math.min(first ?? from, from)
    last = Math.max(last ?? to, to)
  }
  return {
    isFirst: () => count === 0,
    isKept: samples.some,
    sample: (it) => samples.add(it),
    reads: id === 'unknown-host' || id === 'precondition-failed' || id === 'agent-counts',
    line(record, lineNumber) {
      count += 1
      firstLine ||= lineNumber
      if ((record.seen & bit) === 0) {
        record.seen |= bit
        records += 1
      }
      if (record.at === null) untimed += 1
      else {
        seenAt(record.at, record.at)
        rate.add(record.at)
      }
      return !samples.isFull()
    },
    place(record, text) {
      if (id === 'unknown-host') {
        // only the first name: a later one in the text has a match of its own, and may be cut here
        const name = hostAt(text)
        if (name !== null && isKept(name) && !record.hosts?.has(name)) {
          ;(record.hosts ??= new Set()).add(name)
          host(name, 1)
        }
      }
      if (id === 'precondition-failed') for (const it of conflictsIn(text)) conflicts.add(it)
      if (id === 'agent-counts') {
        const counts = agentCounts(text)
        isWorse ||= isFilesBeforeAgent(counts)
        agents.add(counts)
      }
    },
    join(other, linesBefore) {
      count += other.count
      untimed += other.untimed
      records += other.records
      firstLine ||= linesBefore + other.firstLine
      if (other.first && other.last) seenAt(other.first.getTime(), other.last.getTime())
      for (const [name, times] of other.hosts) host(name, times)
      for (const it of other.samples) samples.add(it)
      for (const it of other.conflicts) conflicts.add(it)
      for (const it of other.agents) agents.add(it)
      isWorse ||= other.severity !== signatures[index]!.severity
      rate.join(other.rate)
    },
    cause() {
      if (count === 0) return null
      const severity = isWorse ? 'error' : signatures[index]!.severity
      const time = (at: number | null): Date | null => (at === null ? null : new Date(at))
      const lists = { samples: samples.all(), conflicts: conflicts.all(), agents: agents.all() }
      return {
        id,
        severity,
        count,
        untimed,
        records,
        first: time(first),
        last: time(last),
        firstLine,
        hosts: new Map(hosts),
        ...lists,
        rate: rate.rate(),
      }
    },
  }
}
