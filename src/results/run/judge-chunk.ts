import { setImmediate as immediately } from 'node:timers/promises'
import type { RuleId } from '../../knowledge/result-rules.ts'
import { ruleIds } from '../../knowledge/result-rules.ts'
import { identityOf, testOf } from '../identity.ts'
import type { Hash } from '../index/numbers.ts'
import { hash53, placeIn } from '../index/numbers.ts'
import type { Found, TestOfResult } from '../problem.ts'
import { mostOfRule } from '../problem.ts'
import type { FileName } from '../read/name-blocks.ts'
import { namesIn, pathOf, shownName } from '../read/name-blocks.ts'
import type { Read } from '../read/read-file.ts'
import { mostBytes, rawSources, readAtOnce, readingSpace, readJson, sizeOf } from '../read/read-file.ts'
import type { ResultContent, ResultFile } from '../result-file.ts'
import type { FileRule } from '../rule.ts'
import * as rules from '../rules/index.ts'
import type { Chunk, Judged, Wish } from './chunk.ts'
import { nobody } from './chunk.ts'

/** Judges chunks, one after the other. */
type ChunkJudge = (chunk: Chunk) => Promise<Judged>

/** Parts that tests replace. */
export interface JudgeParts {
  hash?: Hash
  fileRules?: readonly FileRule[]
}

/** Data collected from a chunk. */
interface Sheet {
  bytes: number
  identities: Float64Array<ArrayBuffer>
  sources: number[]
  sourceOwners: number[]
  bases: number[]
  parameters: number[]
  values: number[]
  parameterOwners: number[]
  problems: { at: number; rule: RuleId; found: Found; result: TestOfResult | null }[]
  counts: Uint32Array<ArrayBuffer>
  unread: { at: number; why: string }[]
  isPartly: boolean
}

export function chunkJudge(wish: Wish, { hash = hash53, fileRules = rules.fileRules }: JudgeParts = {}): ChunkJudge {
  const space = readingSpace()
  const off = new Set(wish.off)
  const changing = new Set(wish.changing)
  const judging = fileRules.filter(({ id }) => !off.has(id))
  const ofContainers = judging.filter(({ id }) => id === 'nested-attachment')
  const hadBefore = (pair: string): boolean => placeIn(wish.before, hash(pair)) >= 0
  const kept = new Uint32Array(ruleIds.length)
  let sheet = newSheet(0)

  const problem = (at: number, rule: RuleId, found: Found, result: TestOfResult | null): void => {
    if (off.has(rule)) return
    const place = ruleIds.indexOf(rule)
    sheet.counts[place]! += 1
    // chunks come in order, so each thread keeps all that is kept in the end
    if (kept[place]! < mostOfRule) sheet.problems.push({ at, rule, found, result })
    kept[place]! += 1
  }
  const named = (at: number, source: string): void => {
    const end = lastSlash(source)
    if (end >= 0) sheet.bases.push(hash(source.slice(end + 1)))
    else {
      sheet.sources.push(hash(source))
      sheet.sourceOwners.push(at)
    }
  }
  const judge = (at: number, file: ResultFile, by: readonly FileRule[]): void => {
    for (let index = 0; index < by.length; index += 1) {
      const rule = by[index]!
      const all = rule.judge(file, changing, hadBefore)
      for (let which = 0; which < all.length; which += 1) problem(at, rule.id, all[which]!, testOf(file.content))
    }
  }
  const namedIn = (at: number, content: object): void => {
    const all = rules.attachmentsOf(content)
    for (let index = 0; index < all.length; index += 1) named(at, all[index]!.source)
  }
  const addParameters = (at: number, file: ResultFile, isEarlier: boolean): void => {
    const add = (key: string, value: string): void => {
      sheet.parameters.push(hash(key))
      sheet.values.push(hash(rules.pairOf(key, value)))
      sheet.parameterOwners.push(at)
    }
    rules.parameterPairs(file, changing, add, isEarlier)
  }
  const namedInText = (at: number, text: string): void => {
    for (const source of rawSources(text)) named(nobody, source)
  }
  const result = (at: number, directory: string, name: FileName, read: Read): void => {
    if (read.kind === 'unread') {
      sheet.unread.push({ at, why: read.why })
      sheet.isPartly = true
      return
    }
    sheet.bytes += read.bytes
    if (read.kind === 'huge') {
      problem(at, 'oversize-result', rules.oversize(read.bytes, null), null)
      sheet.isPartly = true
      return
    }
    const faults = read.kind === 'value' ? rules.shapeFaults(read.value) : []
    if (read.bytes > mostBytes) {
      const content = read.kind === 'value' && faults.length === 0 ? (read.value as ResultContent) : null
      problem(at, 'oversize-result', rules.oversize(read.bytes, content), content && testOf(content))
      namedInText(at, read.text)
    } else if (read.kind === 'broken') {
      problem(at, read.rule, read.found, null)
      namedInText(at, read.text)
    } else if (faults.length > 0) {
      for (const found of faults) problem(at, 'bad-shape', found, testOf(read.value))
      namedInText(at, read.text)
    } else {
      const content = read.value as ResultContent
      const file: ResultFile = {
        directory,
        file: typeof name === 'string' ? name : shownName(name),
        bytes: read.bytes,
        content,
      }
      judge(at, file, judging)
      namedIn(at, content)
      const identity = identityOf(content)
      if (identity !== null) sheet.identities[at] = hash(identity)
      if (wish.isCompared) addParameters(at, file, false)
    }
  }
  const container = (at: number, directory: string, name: FileName, read: Read): void => {
    if (read.kind === 'unread') sheet.unread.push({ at, why: read.why })
    if (read.kind === 'unread' || read.kind === 'huge') {
      sheet.isPartly = true
      return
    }
    sheet.bytes += read.bytes
    if (read.kind === 'broken') namedInText(at, read.text)
    else if (typeof read.value === 'object' && read.value !== null) {
      judge(at, { directory, file: shownName(name), bytes: read.bytes, content: read.value }, ofContainers)
      namedIn(at, read.value)
    }
  }
  const previous = (at: number, directory: string, name: FileName, read: Read): void => {
    // problems of the earlier run are not reported
    if (read.kind === 'value' && rules.shapeFaults(read.value).length === 0)
      addParameters(
        at,
        { directory, file: shownName(name), bytes: read.bytes, content: read.value as ResultContent },
        true,
      )
  }

  return async ({ work, directory, names: block }) => {
    const names = namesIn(block)
    sheet = newSheet(work === 'results' ? names.length : 0)
    for (let at = 0; at < names.length; at += 1) {
      const name = names[at]!
      const path = pathOf(directory, name)
      if (work === 'sizes') {
        const size = sizeOf(directory, path)
        if (typeof size === 'number') sheet.bytes += size
        else sheet.unread.push({ at, why: size })
        continue
      }
      const read = readAtOnce(directory, path, space) ?? (await readJson(directory, path, space))
      if (work === 'results') result(at, directory, name, read)
      else if (work === 'containers') container(at, directory, name, read)
      else previous(at, directory, name, read)
    }
    return judged(sheet)
  }
}

function newSheet(results: number): Sheet {
  return {
    bytes: 0,
    identities: new Float64Array(results).fill(NaN),
    sources: [],
    sourceOwners: [],
    bases: [],
    parameters: [],
    values: [],
    parameterOwners: [],
    problems: [],
    counts: new Uint32Array(ruleIds.length),
    unread: [],
    isPartly: false,
  }
}

function judged(sheet: Sheet): Judged {
  return {
    ...sheet,
    sources: Float64Array.from(sheet.sources),
    sourceOwners: Uint32Array.from(sheet.sourceOwners),
    bases: Float64Array.from(sheet.bases),
    parameters: Float64Array.from(sheet.parameters),
    values: Float64Array.from(sheet.values),
    parameterOwners: Uint32Array.from(sheet.parameterOwners),
  }
}

function lastSlash(source: string): number {
  return Math.max(source.lastIndexOf('/'), source.lastIndexOf('\\'))
}

/** Settings and callbacks for judging chunks. */
export interface Judging {
  wish: Wish
  /** receives the findings of each chunk, in the order of the chunks */
  take: (index: number, judged: Judged) => void
  signal: AbortSignal | undefined
}

/** Judges all chunks in this thread. */
export async function judgeInTurn(
  chunks: readonly Chunk[],
  { wish, take, signal }: Judging,
  parts: JudgeParts = {},
): Promise<void> {
  const judge = chunkJudge(wish, parts)
  for (const [index, chunk] of chunks.entries()) {
    signal?.throwIfAborted()
    take(index, await judge(chunk))
    await immediately()
  }
}
