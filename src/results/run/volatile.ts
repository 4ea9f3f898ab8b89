import type { Hash } from '../index/numbers.ts'
import { placeIn, sortedSet } from '../index/numbers.ts'
import type { Found } from '../problem.ts'
import type { ResultFile } from '../result-file.ts'
import { mostOfRule } from '../problem.ts'
import { isSecretParameter, parameterPairs, volatileBetween } from '../rules/index.ts'
import type { Findings } from './findings.ts'
import type { RunParameters, SecondReading } from './gathered.ts'
import { testOf } from '../identity.ts'

/** Maximum results of each run that are read for the values to show. */
const mostAsked = 3
/** Maximum results kept in memory, of at most 2,000,000 bytes each. */
const mostKnown = 2 * mostAsked

/** The results of a run, and the data collected about their parameters. */
interface Run {
  parameters: RunParameters
  again: SecondReading
  isEarlier: boolean
}

/**
 * Finds parameters of a test that have no value in common between two runs. Unequal hashes mean unequal values. Reads
 * the results again to make sure that it is one parameter.
 */
export async function judgeVolatile(
  previous: Run,
  current: Run,
  changing: ReadonlySet<string>,
  findings: Findings,
  hash: Hash,
): Promise<void> {
  const keys = volatileKeys(previous.parameters, current.parameters)
  const now = ownersOf(current.parameters, keys, mostOfRule)
  const then = ownersOf(previous.parameters, Float64Array.from(now.keys()).sort(), mostOfRule)
  const [ofCurrent, ofPrevious] = [remembering(current, changing, hash), remembering(previous, changing, hash)]
  findings.count('volatile-parameter', keys.length - now.size)
  for (const [key, owners] of now) {
    if (!findings.hasRoom('volatile-parameter')) {
      findings.count('volatile-parameter', 1)
      continue
    }
    const results = await ofCurrent(owners)
    const earlier = await ofPrevious(then.get(key)!)
    const [first] = results
    const name = first?.keys.get(key)
    if (!first || name === undefined) continue
    const [values, before] = [valuesOf(results, name), valuesOf(earlier, name)]
    if (before.length === 0 || values.some((it) => before.includes(it))) continue
    const files = results.map(({ file }) => file)
    const { directory, file, content } = first.file
    const found = saidOf(files, content.fullName!, name.slice(content.fullName!.length + 1), before, values)
    findings.add('volatile-parameter', directory, file, found, testOf(content))
  }
}

/** Returns the keys that both runs have, but without any value in common. */
function volatileKeys(previous: RunParameters, current: RunParameters): Float64Array {
  const [before, valuesBefore] = [sortedSet(previous.keys.all()), sortedSet(previous.values.all())]
  const [keys, values] = [current.keys.all(), current.values.all()]
  const steady = sortedSet(keys.filter((_, index) => placeIn(valuesBefore, values[index]!) >= 0))
  return sortedSet(keys.filter((key) => placeIn(before, key) >= 0 && placeIn(steady, key) < 0))
}

/**
 * Returns the first results that have each of the keys, in the order of the results. Covers at most `most` keys, since
 * a million may have changed.
 */
function ownersOf(
  { keys, owners }: RunParameters,
  wanted: Float64Array,
  most: number,
): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, number[]>()
  const [all, whose] = [keys.all(), owners.all()]
  for (let index = 0; index < all.length; index += 1) {
    const key = all[index]!
    if (placeIn(wanted, key) < 0) continue
    const before = found.get(key)
    if (!before) {
      if (found.size < most) found.set(key, [whose[index]!])
    } else if (before.length < mostAsked) before.push(whose[index]!)
  }
  return found
}

/** A result with its parameters: the first key of each hash, and the values of each key. */
interface Known {
  file: ResultFile
  keys: ReadonlyMap<number, string>
  values: ReadonlyMap<string, readonly string[]>
}
type ReadAll = (owners: readonly number[]) => Promise<readonly Known[]>

/** Returns a function that reads a result with many parameters once, not once for each. */
function remembering({ again, isEarlier }: Run, changing: ReadonlySet<string>, hash: Hash): ReadAll {
  const known = new Map<number, Known | null>()
  const read = async (owner: number): Promise<Known | null> => {
    const before = known.get(owner)
    if (before !== undefined) return before
    if (known.size === mostKnown) known.clear()
    const file = await again.result(owner)
    const it = file && knownOf(file, changing, hash, isEarlier)
    known.set(owner, it)
    return it
  }
  return async (owners) => {
    const all: Known[] = []
    for (const owner of owners) {
      const it = await read(owner)
      if (it) all.push(it)
    }
    return all
  }
}

function knownOf(file: ResultFile, changing: ReadonlySet<string>, hash: Hash, isEarlier: boolean): Known {
  const keys = new Map<number, string>()
  const values = new Map<string, string[]>()
  const add = (key: string, value: string): void => {
    const hashed = hash(key)
    if (!keys.has(hashed)) keys.set(hashed, key)
    const before = values.get(key)
    if (before) before.push(value)
    else values.set(key, [value])
  }
  parameterPairs(file, changing, add, isEarlier)
  return { file, keys, values }
}

function valuesOf(all: readonly Known[], key: string): string[] {
  return [...new Set(all.flatMap(({ values }) => values.get(key) ?? []))]
}

function saidOf(
  files: readonly ResultFile[],
  fullName: string,
  name: string,
  before: readonly string[],
  values: readonly string[],
): Found {
  const isHidden = files.some(({ content }) =>
    content.parameters?.some((it) => it?.name === name && isSecretParameter(it)),
  )
  const at = files[0]!.content.parameters!.findIndex((it) => it?.name === name && it.excluded !== true)
  return { ...volatileBetween(fullName, name, before, values, isHidden), place: `parameters[${at}].value` }
}
