import { sep } from 'node:path'
import { AdminError } from '../core/error.ts'
import { ruleIds } from '../knowledge/result-rules.ts'
import { environmentFiles, environmentOf } from './environment.ts'
import type { Environment } from './environment.ts'
import { hash53, repeated } from './index/numbers.ts'
import type { Hash } from './index/numbers.ts'
import { entryKind, leadsOut } from './read/inside.ts'
import { listDirectory, listNested } from './read/list.ts'
import type { Listing } from './read/list.ts'
import type { LintOptions, LintReport, CollapsedResult, Found } from './problem.ts'
import type { FileRule, GroupRule } from './rule.ts'
import { judgeAttachments } from './run/attachments.ts'
import { fileIndex, gather, runParameters, secondReading } from './run/gathered.ts'
import { openFindings } from './run/findings.ts'
import type { Findings } from './run/findings.ts'
import { firstLook } from './run/first-look.ts'
import type { Gathered, SecondReading } from './run/gathered.ts'
import { judgeVolatile } from './run/volatile.ts'
import { namesIn, shownName } from './read/name-blocks.ts'
import { emptyResults } from './rules/index.ts'
import { realpathSync } from 'node:fs'
import { identityOf, testOf } from './identity.ts'
import type { ResultFile } from './result-file.ts'

import * as rules from './rules/index.ts'

/** Maximum number of names listed if a directory has no results. */
const mostNames = 10

/** Reports a directory without `*-result.json`, and entries of a directory that were not read. */
function judgeEmpty({ listing, nested }: Gathered, findings: Findings): void {
  const { directory, state, resultCount, special, specialCount } = listing
  if (resultCount === 0)
    findings.add(
      'empty-results',
      directory,
      '',
      emptyResults({
        kind: state === 'there' ? 'no-results' : state,
        entries: entriesOf(listing),
        childrenWithResults: nested.withResults,
      }),
    )
  for (const { file, message } of [...special, ...nested.outside]) findings.undetermined({ directory, file, message })
  // only the first ones are kept; the rest is only counted
  for (let more = specialCount - special.length + nested.outsideCount - nested.outside.length; more > 0; more -= 1)
    findings.undetermined({ directory, file: '', message: '' })
  if (nested.isCut || listing.areFoldersCut)
    findings.undetermined({
      directory,
      file: '',
      message:
        'some subdirectories were not searched: there are too many, they are nested too deeply, this user ' +
        'cannot read them, or their names are not in UTF-8',
    })
}

function entriesOf({ folders, known, special, containers, attachments }: Gathered['listing']): string[] {
  const files = [...containers.slice(0, 1), ...attachments.slice(0, 1)].flatMap((block) =>
    namesIn(block).map(shownName),
  )
  return [...folders.map((it) => `${it}/`), ...files, ...known, ...special.map(({ file }) => file)]
    .sort()
    .slice(0, mostNames)
}

/** Parts that tests replace. */
export interface LintParts {
  hash?: Hash
  fileRules?: readonly FileRule[]
  groupRules?: readonly GroupRule[]
  /** maximum number of threads; by default, as many as the machine and the number of files justify */
  threads?: number
}

/**
 * Checks results directories. Throws FORBIDDEN and UNREACHABLE if one cannot be listed, USAGE if the earlier run's
 * directory is missing, and the signal's reason.
 */
export async function lintResults(options: LintOptions, parts: LintParts = {}): Promise<LintReport> {
  const { signal } = options
  const hash = parts.hash ?? hash53
  const changing = new Set(options.changing)
  const findings = openFindings(options.severities)
  await judgeLogs(options, findings)

  const [files, earlierFiles] = [fileIndex(), fileIndex()]
  const all: Gathered[] = []
  const realPaths = options.directories.map(realPath)
  for (const directory of options.directories) {
    const listing = await listDirectory(directory, hash, signal)
    const nested = await listNested(directory, listing.folders, othersIn(realPath(directory), realPaths), hash, signal)
    all.push(gather(listing, nested, files))
  }
  const earlier = options.previous === null ? null : await listEarlier(options.previous, hash, findings, signal)
  if (earlier) earlierFiles.add(earlier.directory, earlier.results, earlier.resultCount)

  const wish = {
    off: ruleIds.filter((it) => !findings.isOn(it)),
    changing: options.changing,
    isCompared: earlier !== null,
  }
  const [current, previous] = [runParameters(), runParameters()]
  const identities = await firstLook({ all, earlier, files, current, previous, wish, findings, options }, parts)

  const again = secondReading(files, signal)
  for (const it of all) {
    judgeEmpty(it, findings)
    if (it.listing.resultCount > 0) await judgeAttachments(it, findings, again, hash)
  }
  await judgeGroups(identities, parts.groupRules ?? rules.groupRules, findings, again)
  if (findings.isOn('volatile-parameter')) {
    if (earlier)
      await judgeVolatile(
        { parameters: previous, again: secondReading(earlierFiles, signal), isEarlier: true },
        { parameters: current, again, isEarlier: false },
        changing,
        findings,
        hash,
      )
    judgeEnvironments(all, earlier, changing, findings)
  }
  return { directories: all.map(sizesOf), ...findings.result() }
}

async function judgeLogs({ agentLogs, signal }: LintOptions, findings: Findings): Promise<void> {
  if (!findings.isOn('files-before-agent') || agentLogs.length === 0) return
  // loads the scanner of logs too, so it is imported only here
  const { filesBeforeAgent } = await import('./rules/files-before-agent.ts')
  for (const log of agentLogs) {
    const { found, unread } = await filesBeforeAgent(log, signal)
    for (const it of found) findings.add('files-before-agent', '', log.name, it)
    if (unread !== null) findings.undetermined({ directory: '', file: log.name, message: unread })
  }
}

function judgeEnvironments(
  all: readonly Gathered[],
  earlier: Listing | null,
  changing: ReadonlySet<string>,
  findings: Findings,
): void {
  const before: Environment = earlier ? environmentOf(earlier.directory) : new Map()
  for (const {
    listing: { directory },
  } of all) {
    for (const [file, entries] of environmentOf(directory)) {
      for (const found of rules.judgeEnvironment(entries, before.get(file) ?? null, changing))
        findings.add('volatile-parameter', directory, file, found)
    }
  }
}

async function listEarlier(
  directory: string,
  hash: Hash,
  findings: Findings,
  signal: AbortSignal | undefined,
): Promise<Listing> {
  const listing = await listDirectory(directory, hash, signal)
  if (listing.state === 'there') {
    const isRead = (file: string): boolean => entryKind(file) === 'result' || environmentFiles.includes(file)
    for (const { file, message } of listing.special)
      if (message === leadsOut && isRead(file)) findings.undetermined({ directory, file, message })
    return listing
  }
  throw new AdminError('USAGE', `there is no directory ${directory} to compare with`, [
    'testops-admin lint-results DIR --previous PREVIOUS   # PREVIOUS is the results directory of an earlier run',
  ])
}

/** Returns the other directories below this one, relative to it: they are checked by themselves. All are real paths. */
function othersIn(directory: string, all: readonly string[]): ReadonlySet<string> {
  const start = directory.endsWith(sep) ? directory : `${directory}${sep}`
  return new Set(all.filter((it) => it.startsWith(start)).map((it) => it.slice(start.length)))
}

function sizesOf({ listing, bytes }: Gathered): LintReport['directories'][number] {
  const { directory, resultCount, containerCount, attachmentHashes, known } = listing
  return {
    directory,
    files: resultCount + containerCount + attachmentHashes.length + known.length,
    results: resultCount,
    bytes,
  }
}

/** Returns each directory once, however often it is named: otherwise its results would collide with themselves. */
export function distinctDirectories(names: readonly string[]): string[] {
  const known = new Map<string, string>()
  for (const name of names) {
    const path = realPath(name)
    if (!known.has(path)) known.set(path, name)
  }
  return [...known.values()]
}

/** Returns the directory's real path. Returns the name unchanged if it does not exist; the rules report that. */
function realPath(directory: string): string {
  try {
    return realpathSync(directory)
  } catch {
    return directory
  }
}

/** Maximum results of a group that are shown, and that are read: there may be a million. */
const [mostShown, mostRead] = [20, 10_000]

/** Judges results with equal hashes, a group at a time. Reads them again, since equal hashes alone are no evidence. */
async function judgeGroups(
  identities: Float64Array,
  rules: readonly GroupRule[],
  findings: Findings,
  again: SecondReading,
): Promise<void> {
  const judging = rules.filter(({ id }) => findings.isOn(id))
  if (judging.length === 0) return
  for (const members of repeated(identities)) {
    const unread = Math.max(0, members.length - mostRead)
    for (const group of await groupsAmong(members.subarray(0, mostRead), again)) {
      for (const rule of judging) {
        const found = rule.judge(group)
        if (found === null) continue
        const { directory, file, content } = group[0]!
        findings.add(rule.id, directory, file, withResults(found, group, unread), testOf(content))
      }
    }
  }
}

/** Groups the results that really have the same identity, the earliest first. */
async function groupsAmong(members: Uint32Array, again: SecondReading): Promise<readonly (readonly ResultFile[])[]> {
  const groups = new Map<string, ResultFile[]>()
  for (const index of members) {
    const file = await again.result(index)
    const identity = file && identityOf(file.content)
    if (!file || identity === null) continue
    const group = groups.get(identity)
    if (group) group.push(slim(file))
    else groups.set(identity, [slim(file)])
  }
  return [...groups.values()].filter(({ length }) => length > 1).map((group) => group.sort(byStart))
}

/** Leaves out what takes the most memory and does not show which test it is. */
function slim(file: ResultFile): ResultFile {
  const {
    steps: _steps,
    attachments: _attachments,
    statusDetails: _details,
    description: _text,
    descriptionHtml: _html,
    ...content
  } = file.content
  return { ...file, content }
}

function byStart(one: ResultFile, other: ResultFile): number {
  const [before, after] = [one.content.start ?? 0, other.content.start ?? 0]
  if (before !== after) return before - after
  const [name, otherName] = [`${one.directory}\0${one.file}`, `${other.directory}\0${other.file}`]
  return name < otherName ? -1 : name > otherName ? 1 : 0
}

function withResults(found: Found, group: readonly ResultFile[], unread: number): Found {
  return { ...found, together: group.slice(0, mostShown).map(collapsed), togetherCount: group.length + unread }
}

/** Leaves out an infinite start: JSON allows larger numbers than ours, which would come out as null. */
function collapsed({ directory, file, content }: ResultFile): CollapsedResult {
  return { directory, file, ...testOf(content), ...(Number.isFinite(content.start) && { start: content.start! }) }
}
