import { ruleIds } from '../../knowledge/result-rules.ts'
import { sortedSet } from '../index/numbers.ts'
import { namesOfBlock, shownName } from '../read/name-blocks.ts'
import type { Listing } from '../read/list.ts'
import type { NameBlock } from '../read/name-blocks.ts'
import type { LintOptions } from '../problem.ts'
import { nobody } from './chunk.ts'
import type { Chunk, Judged, Wish, Work } from './chunk.ts'
import type { FileIndex, Gathered, RunParameters } from './gathered.ts'
import type { Findings } from './findings.ts'
import type { JudgeParts, Judging } from './judge-chunk.ts'
import { availableParallelism } from 'node:os'
import { threadProgram } from '../../core/package-parts.ts'
import { judgeInTurn } from './judge-chunk.ts'

/**
 * Number of files that are worth a thread, which takes a while to start and some memory; and maximum number of threads.
 */
const [worthThread, maxThreads] = [1000, 4]

/** Judges all chunks, in several threads if there are many. Throws the signal's reason. */
async function judgeAll(
  chunks: readonly Chunk[],
  judging: Judging,
  { threads, ...parts }: JudgeParts & { threads?: number },
): Promise<void> {
  const count = Math.min(threads ?? threadsFor(chunks), chunks.length)
  const program =
    count > 1 && parts.hash === undefined && parts.fileRules === undefined
      ? threadProgram('results/run/worker.js')
      : null
  if (program === null) return judgeInTurn(chunks, judging, parts)
  const { judgeInThreads } = await import('./in-threads.ts')
  return judgeInThreads(program, count, chunks, judging)
}

function threadsFor(chunks: readonly Chunk[]): number {
  const files = chunks.reduce((sum, { names }) => sum + names.count, 0)
  return Math.min(availableParallelism(), maxThreads, Math.floor(files / worthThread))
}

interface Look {
  all: readonly Gathered[]
  earlier: Listing | null
  files: FileIndex
  current: RunParameters
  previous: RunParameters
  wish: Omit<Wish, 'before'>
  findings: Findings
  options: Pick<LintOptions, 'signal' | 'progress'>
}

/** A chunk and where its answer belongs. `first`: the number of its first file. */
interface Placed {
  chunk: Chunk
  first: number
  /** null: the chunk belongs to the earlier run */
  of: Gathered | null
}

const progressMs = 100

/** Reads every file once. Returns, for each file of the index, the hash of its identity; NaN if it is in no group. */
export async function firstLook(
  { all, earlier, files, current, previous, wish, findings, options: { signal, progress } }: Look,
  parts: JudgeParts & { threads?: number },
): Promise<Float64Array> {
  const identities = new Float64Array(files.length).fill(NaN)
  const before = earlier ? placedBlocks('previous', earlier.directory, earlier.results, 0, null) : []
  const now = all.flatMap(chunksOf)
  const total = [...before, ...now].reduce((sum, { chunk }) => sum + chunk.names.count, 0)
  let [done, told] = [0, performance.now()]
  const take = ({ chunk, first, of }: Placed, judged: Judged): void => {
    if (of === null) addParameters(previous, judged, first)
    else {
      addParameters(current, judged, first)
      identities.set(judged.identities, chunk.work === 'results' ? first : 0)
      takeInto(of, judged, first)
      report(judged, chunk.directory, first)
    }
    done += chunk.names.count
    if (!progress || performance.now() - told < progressMs) return
    told = performance.now()
    progress(done, total)
  }
  const report = (judged: Judged, directory: string, first: number): void => {
    const kept = new Uint32Array(ruleIds.length)
    for (const { at, rule, found, result } of judged.problems) {
      kept[ruleIds.indexOf(rule)]! += 1
      findings.add(rule, directory, shownName(files.at(first + at).name), found, result)
    }
    judged.counts.forEach((count, place) => findings.count(ruleIds[place]!, count - kept[place]!))
    for (const { at, why } of judged.unread)
      findings.undetermined({ directory, file: shownName(files.at(first + at).name), message: why })
  }
  const judge = async (placed: readonly Placed[], wanted: Wish): Promise<void> =>
    judgeAll(
      placed.map(({ chunk }) => chunk),
      { wish: wanted, take: (index, judged) => take(placed[index]!, judged), signal },
      parts,
    )
  if (before.length > 0) await judge(before, { ...wish, before: new Float64Array() })
  await judge(now, { ...wish, before: shared(sortedSet(previous.values.all())) })
  return identities
}

/** Copies the numbers into memory that all threads share: there are as many as parameters. */
function shared(values: Float64Array): Float64Array {
  const copy = new Float64Array(new SharedArrayBuffer(values.byteLength))
  copy.set(values)
  return copy
}

function chunksOf(of: Gathered): Placed[] {
  const { directory, results, containers, attachments } = of.listing
  return [
    ...placedBlocks('results', directory, results, of.firstResult, of),
    ...placedBlocks('containers', directory, containers, of.firstContainer, of),
    ...placedBlocks('sizes', directory, attachments, of.firstAttachment, of),
  ]
}

function placedBlocks(
  work: Work,
  directory: string,
  blocks: readonly NameBlock[],
  first: number,
  of: Gathered | null,
): Placed[] {
  return blocks.map((names, index) => ({ chunk: { work, directory, names }, first: first + index * namesOfBlock, of }))
}

function takeInto(of: Gathered, judged: Judged, first: number): void {
  of.bytes += judged.bytes
  of.isPartly ||= judged.isPartly
  of.sources.addAll(judged.sources)
  for (const at of judged.sourceOwners) of.sourceOwners.add(at === nobody ? NaN : first + at)
  of.bases.addAll(judged.bases)
}

function addParameters({ keys, values, owners }: RunParameters, judged: Judged, first: number): void {
  keys.addAll(judged.parameters)
  values.addAll(judged.values)
  for (const at of judged.parameterOwners) owners.add(first + at)
}
