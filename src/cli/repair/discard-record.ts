import { AdminError } from '../../core/error.ts'
import type { Risk } from '../../core/plan.ts'
import type { RunHistory, UnreadableRun } from '../../core/run.ts'
import { isUnfinished } from '../../core/run-state.ts'
import { nameOf } from '../../engine/records.ts'
import { canonical } from '../../engine/plan.ts'
import { leftStanding } from '../../domain/foreign-run/standing.ts'
import type { DiscardDocument } from '../../output/record.ts'
import { recordText } from '../../output/record.ts'
import { screenOf, print, tellLine } from '../write.ts'
import { refuseRisks, refuseUnknownRisks } from './flags.ts'
import { underLocks } from './carry.ts'
import { confirmed, refuseOtherName } from './confirm.ts'
import { refuseIfReadOnly } from './read-only.ts'
import type { RepairFlags } from './flags.ts'
import { misfitOf } from './foreign.ts'
import { withDeployment } from './session.ts'
import type { RepairSession } from './session.ts'
import { command, sentence } from '../../core/shell-command.ts'

/**
 * Removes the record of a run from the deployment, and nothing else, once it was shown, confirmed and saved on this
 * machine. A run of this machine keeps its journal here. Throws REFUSED if the record may be genuine and unfinished.
 */
export async function discardRecord(
  flags: RepairFlags,
  run: string,
  words: readonly string[],
): Promise<DiscardDocument> {
  refuseUnknownRisks(flags['accept-risk'] ?? [])
  if (!(flags['dry-run'] ?? false)) refuseIfReadOnly()
  return withDeployment(flags, async (session) => discardIn(session, flags, run, words))
}

/** Like `discardRecord`, on an open deployment. */
export async function discardIn(
  session: RepairSession,
  flags: RepairFlags,
  run: string,
  words: readonly string[],
): Promise<DiscardDocument> {
  const { deployment, journals } = session.opened
  refuseOtherName({ deployment, confirm: flags.confirm, words })
  const there = await journals.there()
  const found = await recordOf(session, run)
  const document = { schemaVersion: 1, deployment: deployment.name, run } as const
  if (found === null) return { ...document, outcome: 'nothing-to-do', saved: null }
  if ('record' in found) print(process.stderr, recordText(found, screenOf(process.stderr)))
  else tellLine(process.stderr, `The record \`${run}\` cannot be read: ${found.unreadable}`)
  const risks = await risksOf(session, run, found)
  if (flags['dry-run'] ?? false)
    return {
      ...document,
      outcome: 'planned',
      saved: null,
      ...(risks.length > 0 && { risks: risks.map(({ name, message }) => ({ name, message })) }),
    }
  refuseRisks({ risks }, flags['accept-risk'] ?? [], words)
  await confirmed({ deployment, confirm: flags.confirm, words, signal: session.signal }, () => undefined)
  return underLocks(session, { what: 'discard' }, async (guard) => {
    if ((await recordOf(session, run)) === null) return { ...document, outcome: 'nothing-to-do', saved: null }
    const kept = await journals.here.keepForeign!(run)
    try {
      await guard.assertHeld()
      await there.discard!(run, kept.append)
    } finally {
      await kept.close()
    }
    return { ...document, outcome: 'done', saved: kept.file }
  })
}

type Found = RunHistory | { unreadable: string }

/** Returns the record of a run in the deployment; null if there is none. */
async function recordOf({ opened: { journals } }: RepairSession, run: string): Promise<Found | null> {
  return named(run, await (await journals.there()).list())
}

function named(run: string, all: readonly (RunHistory | UnreadableRun)[]): Found | null {
  return all.find((it) => nameOf(it) === run) ?? null
}

/** An unfinished repair stays unfinished without its record, so the operator must accept that risk. */
async function risksOf(session: RepairSession, run: string, found: Found): Promise<Risk[]> {
  const own = named(run, await session.opened.journals.here.list())
  if (own && 'record' in own) return risksOfCopy(own, found)
  const isStrange = !('record' in found) || (await misfitOrNull(session, found)) !== null
  const left = await leftStanding(session.opened)
  const isHalfDone = 'record' in found && !isStrange && (isUnfinished(found) || left.length > 0)
  if (!isHalfDone && left.length === 0) return []
  const what = isHalfDone ? 'the record may belong to an unfinished repair of this deployment' : left[0]!
  return [
    {
      name: 'unfinished-run',
      message: `${what}; without the record of run ${run}, nobody can resume or undo that run`,
      proof: [
        ...(isHalfDone && 'record' in found
          ? [command`testops-admin resume --adopt ${found.record.run} -d {deployment} --dry-run`]
          : []),
        ...left.slice(1),
      ],
    },
  ]
}

/** The journal on this machine stays, so that only what others did and noted in the copy can be lost. */
function risksOfCopy(own: RunHistory, found: Found): Risk[] {
  const { run } = own.record
  const isMore =
    'record' in found &&
    (found.events.length > own.events.length ||
      canonical(found.events, new Set()) !== canonical(own.events.slice(0, found.events.length), new Set()))
  if (!('record' in found) || !(isMore || isUnfinished(own))) return []
  const message = isMore
    ? `the deployment's record of run ${run} has events that are missing on this machine. They may show what ` +
      'another machine did'
    : `run ${run} is unfinished: once the copy of its record is removed from the deployment, other machines cannot ` +
      'see the run'
  const ask = isMore ? [sentence`ask the other operators of this deployment whether they resumed the run`] : []
  return [
    {
      name: 'unfinished-run',
      message,
      proof: [...ask, command`testops-admin resume ${run} -d {deployment} --dry-run`],
    },
  ]
}

/** Returns why the record does not fit; null if it fits, or cannot be compared and so may be genuine. */
async function misfitOrNull(session: RepairSession, history: RunHistory): Promise<string | null> {
  try {
    return await misfitOf(session, history)
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return null
    throw error
  }
}
