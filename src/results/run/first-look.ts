import { ruleIds } from '../../knowledge/result-rules.ts'
import { shownName } from '../read/file-name.ts'
import type { Listing } from '../read/list.ts'
import { namesOfBlock } from '../read/name-blocks.ts'
import type { NameBlock } from '../read/name-blocks.ts'
import type { LintOptions } from '../report.ts'
import { nobody } from './chunk.ts'
import type { Chunk, Judged, Wish, Work } from './chunk.ts'
import type { FileIndex } from './file-index.ts'
import type { Findings } from './findings.ts'
import type { Gathered, RunParameters } from './gathered.ts'
import { judgeAll } from './judge-all.ts'
import type { JudgeParts } from './judge-chunk.ts'

interface Look {
  all: readonly Gathered[]
  earlier: Listing | null
  files: FileIndex
  current: RunParameters
  previous: RunParameters
  wish: Wish
  findings: Findings
  options: Pick<LintOptions, 'signal' | 'progress'>
}

/** A chunk with where its answer belongs; `first`: the number of its first file. */
interface Placed {
  chunk: Chunk
  first: number
  /** null: of the earlier run */
  of: Gathered | null
}

const progressMs = 100

/** Reads every file once. Returns of each file of the index by what the service takes results for one; NaN: it is in no group. */
export async function firstLook({ all, earlier, files, current, previous, wish, findings, options: { signal, progress } }: Look, parts: JudgeParts & { threads?: number }): Promise<Float64Array> {
  const identities = new Float64Array(files.length).fill(NaN)
  const placed = [...all.flatMap(chunksOf), ...(earlier ? placedBlocks('previous', earlier.directory, earlier.results, 0, null) : [])]
  const total = placed.reduce((sum, { chunk }) => sum + chunk.names.count, 0)
  let [done, told] = [0, performance.now()]
  const take = (index: number, judged: Judged): void => {
    const { chunk, first, of } = placed[index]!
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
    for (const { at, why } of judged.unread) findings.undetermined({ directory, file: shownName(files.at(first + at).name), message: why })
  }
  await judgeAll(placed.map(({ chunk }) => chunk), { wish, take, signal }, parts)
  return identities
}

function chunksOf(of: Gathered): Placed[] {
  const { directory, results, containers, attachments } = of.listing
  return [
    ...placedBlocks('results', directory, results, of.firstResult, of),
    ...placedBlocks('containers', directory, containers, of.firstContainer, of),
    ...placedBlocks('sizes', directory, attachments, of.firstAttachment, of),
  ]
}

function placedBlocks(work: Work, directory: string, blocks: readonly NameBlock[], first: number, of: Gathered | null): Placed[] {
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
