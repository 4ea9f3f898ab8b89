import type { Hash } from '../index/numbers.ts'
import { placeIn, sortedSet } from '../index/numbers.ts'
import { namesIn, shownName } from '../read/name-blocks.ts'
import { kindOf } from '../read/inside.ts'
import type { NameBlock } from '../read/name-blocks.ts'
import { attachmentsOf, missingAttachment, nestedFile, orphanAttachment } from '../rules/index.ts'
import type { Findings } from './findings.ts'
import type { Gathered, SecondReading } from './gathered.ts'
import { testOf } from '../identity.ts'

/**
 * Finds attachments that are named but missing, present but not named, or present outside the root. Unequal hashes mean
 * unequal names, so nothing is reported by mistake.
 */
export async function judgeAttachments(
  of: Gathered,
  findings: Findings,
  again: SecondReading,
  hash: Hash,
): Promise<void> {
  const there = sortedSet(of.listing.attachmentHashes)
  const isThere = (source: number): boolean => placeIn(there, source) >= 0
  const below = filesBelow(of, sortedSet(of.sources.all().filter((it) => !isThere(it))))
  const wanted = await judgeMissing(of, isThere, below, findings, again, hash)
  judgeNested(of, wanted, findings)
  judgeOrphans(of, findings)
}

/** Maps names of files in subdirectories to their paths, for files whose hash is in `missing`. */
function filesBelow({ nested }: Gathered, missing: Float64Array): ReadonlyMap<string, string> {
  const paths = new Map<string, string>()
  let index = 0
  for (const path of allNames(nested.files))
    if (placeIn(missing, nested.baseHashes[index++]!) >= 0) paths.set(baseOf(path), path)
  return paths
}

/** Reports attachments that are missing. Returns the names of those that lie in a subdirectory instead. */
async function judgeMissing(
  of: Gathered,
  isThere: (source: number) => boolean,
  below: ReadonlyMap<string, string>,
  findings: Findings,
  again: SecondReading,
  hash: Hash,
): Promise<ReadonlySet<string>> {
  const { directory, known, special } = of.listing
  const others = new Set([...known, ...special.map(({ file }) => file)])
  const [sources, owners] = [of.sources.all(), of.sourceOwners.all()]
  const wanted = new Set<string>()
  for (let index = 0; index < sources.length; ) {
    const owner = owners[index]!
    if (Number.isNaN(owner)) {
      index += 1
      continue
    }
    let missing = 0
    for (; index < sources.length && owners[index] === owner; index += 1) if (!isThere(sources[index]!)) missing += 1
    if (missing === 0) continue
    if (!findings.hasRoom('missing-attachment') && below.size === 0) {
      findings.count('missing-attachment', missing)
      continue
    }
    const file = await again.object(owner)
    if (file === null) {
      findings.count('missing-attachment', missing)
      continue
    }
    for (const { place, source } of attachmentsOf(file.content)) {
      if (/[/\\]/.test(source) || isThere(hash(source)) || others.has(source)) continue
      if (below.has(source)) wanted.add(source)
      else if (!isInRoot(directory, source))
        findings.add(
          'missing-attachment',
          directory,
          file.file,
          missingAttachment({ place, source }),
          testOf(file.content),
        )
    }
  }
  return wanted
}

/** True if the file is there after all: a result, a new file, or one of very many that are not opened. */
function isInRoot(directory: string, source: string): boolean {
  return ['file', 'special', 'outside'].includes(kindOf(directory, `${directory}/${source}`))
}

function judgeNested(
  { listing: { directory }, nested, bases }: Gathered,
  wanted: ReadonlySet<string>,
  findings: Findings,
): void {
  if (nested.fileCount === 0) return
  const toldOf = sortedSet(bases.all())
  let index = 0
  for (const path of allNames(nested.files)) {
    const isTold = placeIn(toldOf, nested.baseHashes[index++]!) >= 0
    const base = baseOf(path)
    if (wanted.has(base) || (!isTold && base.includes('-attachment')))
      findings.add('nested-attachment', directory, path, nestedFile(path))
  }
}

function judgeOrphans({ listing, sources, bases, isPartly }: Gathered, findings: Findings): void {
  const { directory, attachments, attachmentHashes } = listing
  const [named, byPath] = [sortedSet(sources.all()), sortedSet(bases.all())]
  let [index, unsure] = [0, 0]
  for (const block of attachments) {
    let names: readonly string[] | null = null
    for (let at = 0; at < block.count; at += 1) {
      const own = attachmentHashes[index++]!
      if (placeIn(named, own) >= 0 || placeIn(byPath, own) >= 0) continue
      if (isPartly) unsure += 1
      else if (!findings.hasRoom('orphan-attachment')) findings.count('orphan-attachment', 1)
      else {
        names ??= namesIn(block).map(shownName)
        findings.add('orphan-attachment', directory, names[at]!, orphanAttachment(names[at]!))
      }
    }
  }
  if (unsure > 0 && findings.isOn('orphan-attachment')) {
    findings.undetermined({
      directory,
      file: '',
      message:
        `cannot tell whether ${unsure === 1 ? '1 file is' : `${unsure} files are`} needed: no result refers to ` +
        `${unsure === 1 ? 'it' : 'them'}, but some results could not be read`,
    })
  }
}

function* allNames(blocks: readonly NameBlock[]): Generator<string> {
  for (const block of blocks) for (const name of namesIn(block)) yield shownName(name)
}

function baseOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
