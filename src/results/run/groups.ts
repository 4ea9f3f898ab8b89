import { identityOf, testOf } from '../identity.ts'
import { repeated } from '../index/numbers.ts'
import type { CollapsedResult, Found } from '../problem.ts'
import type { ResultFile } from '../result-file.ts'
import type { GroupRule } from '../rule.ts'
import type { Findings } from './findings.ts'
import type { SecondReading } from './gathered.ts'

/** Maximum results of a group that are shown, and that are read: there may be a million. */
const [mostShown, mostRead] = [20, 10_000]

/** Judges results with equal hashes, a group at a time. Reads them again, since equal hashes alone are no evidence. */
export async function judgeGroups(
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
