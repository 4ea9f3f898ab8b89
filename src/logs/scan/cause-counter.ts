import { argumentConflicts, unknownHostAt } from '../../knowledge/log-signatures.ts'
import type { SignatureId } from '../../knowledge/signatures.ts'
import { agentCounts, isFilesBeforeAgent, signatures } from '../../knowledge/signatures.ts'
import type { Counts } from './native.ts'
import type { Sample } from './sample.ts'
import type { Cause } from './tally.ts'
import { kept, mostNumbered, rateCounter } from './tally.ts'

/** Keeps the first few things that differ. */
interface Keeper<T> {
  add(it: T): void
  all(): readonly T[]
}

function keeper<T>(most: number, keyOf: (it: T) => string): Keeper<T> {
  const keys: string[] = []
  const things: T[] = []
  return {
    add(it) {
      const key = keyOf(it)
      if (things.length >= most || keys.includes(key)) return
      keys.push(key)
      things.push(it)
    },
    all: () => [...things],
  }
}

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
interface CauseCounter {
  /** Adds what was counted */
  add(counts: Counts): void
  sample(sample: Sample): void
  /**
   * Reads a match; `text` is the text around or after it, as far as it is near, and `names` are the hosts that were
   * read in its record
   */
  read(text: string, names: Set<string>): void
  /** Returns the number of the host that such a text counts; -1: it counts none; null: there are too many */
  numberOf(text: string): number | null
  /** Returns the numbers of these hosts, as far as they have one */
  numbersOf(names: ReadonlySet<string>): number[]
  /** Adds the hosts with these numbers, a bit each, to those that were read in a record */
  addNames(numbers: number, names: Set<string>): void
  /** Adds what was counted of each host by its number */
  addRepeats(timesOf: (number: number) => number): void
  /** Adds what was found in a part of the stream that begins after `linesBefore` lines */
  join(cause: Cause, linesBefore: number): void
  /** Null if nothing was found */
  cause(): Cause | null
}

export function causeCounter(id: SignatureId): CauseCounter {
  const index = signatures.findIndex((it) => it.id === id)
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
  /** The hosts that have a number, in their order */
  const numbered: string[] = []
  let isWorse = false

  const isKept = (name: string): boolean => hosts.has(name) || hosts.size < kept.hosts
  const host = (name: string, times: number): void => {
    if (isKept(name)) hosts.set(name, (hosts.get(name) ?? 0) + times)
  }
  const addCounts = (it: Counts): void => {
    count += it.count
    untimed += it.untimed
    records += it.records
    firstLine ||= it.firstLine
    if (Number.isFinite(it.first)) {
      first = Math.min(first ?? it.first, it.first)
      last = Math.max(last ?? it.last, it.last)
    }
    rate.join(it.rate)
  }
  return {
    add: addCounts,
    sample: (it) => samples.add(it),
    read(text, names) {
      if (id === 'unknown-host') {
        // only the first name: a later one in the text has a match of its own, and may be cut here
        const name = hostAt(text)
        if (name !== null && isKept(name) && !names.has(name)) {
          names.add(name)
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
    numberOf(text) {
      const name = id === 'unknown-host' ? hostAt(text) : null
      if (name === null || !hosts.has(name)) return -1
      if (!numbered.includes(name) && numbered.length < mostNumbered) numbered.push(name)
      const number = numbered.indexOf(name)
      return number < 0 ? null : number
    },
    numbersOf: (names) => [...numbered.keys()].filter((number) => names.has(numbered[number]!)),
    addNames(numbers, names) {
      numbered.forEach((name, number) => {
        if (numbers & (1 << number)) names.add(name)
      })
    },
    addRepeats(timesOf) {
      numbered.forEach((name, number) => host(name, timesOf(number)))
    },
    join(other, linesBefore) {
      addCounts({
        ...other,
        firstLine: linesBefore + other.firstLine,
        first: other.first?.getTime() ?? Infinity,
        last: other.last?.getTime() ?? -Infinity,
      })
      for (const [name, times] of other.hosts) host(name, times)
      for (const it of other.samples) samples.add(it)
      for (const it of other.conflicts) conflicts.add(it)
      for (const it of other.agents) agents.add(it)
      isWorse ||= other.severity !== signatures[index]!.severity
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
