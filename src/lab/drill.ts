import { randomInt, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { checks } from '../checks/index.ts'
import type { DoctorReport } from '../core/check.ts'
import { AdminError, messageOf } from '../core/error.ts'
import { closestNames, closestTo } from '../core/nearest.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { command, editing, nested } from '../core/shell-command.ts'
import { typed } from '../core/typed.ts'
import { exitCodeOf } from '../engine/report.ts'
import { makeAll } from './break.ts'
import { drawFaults, drillGroups, rootsOf, stepsOf } from './drill-draw.ts'
import { currentInstant, endDrill, pastDrills, readDrill, secondsBetween, writeDrill } from './drill-record.ts'
import type { DrillRecord, DrillRequest, PastDrill } from './drill-record.ts'
import { allCases } from './fault-list.ts'
import type { NamedCase } from './fault-list.ts'
import type { DrillStep } from './fault.ts'
import { goOn, openLab } from './lab.ts'
import type { Lab, LabOptions } from './lab.ts'
import { labLayout } from './layout.ts'
import { mendAll } from './mend.ts'
import { asOperator } from './operator-lock.ts'
import { labStatus } from './status.ts'

/** Where a drill stands. It names no fault. */
interface DrillStanding {
  /** ISO */
  startedAt: string
  seconds: number
  /** true if the machine was restarted since the start, so that only its clock can tell the time */
  isByClock: boolean
  /** how many faults the lab has */
  faults: number
  /** checks that were named and are root causes */
  named: readonly string[]
  wrong: number
  /** exit code of doctor; null: it was not asked */
  doctor: number | null
  /** servers that do not run any more, though the drill stopped none */
  stopped: readonly string[]
}

/** A fault that a drill had, and the quickest way to mend it. */
interface DrillFault {
  name: string
  /** how the lab made it; null: this version knows no such fault */
  made: string | null
  rootCauses: readonly string[]
  /** the commands, in order */
  quickest: readonly Suggestion[]
}

/** A drill that has ended, with what it had. */
interface DrillResult {
  past: PastDrill
  faults: readonly DrillFault[]
}

/** What `lab drill` is asked to do: at most one of the first four; the rest begins a drill. */
interface DrillFlags {
  answer?: string | undefined
  done?: boolean
  giveUp?: boolean
  history?: boolean
  faults?: '1' | '2' | undefined
  seed?: number | undefined
  only?: string | undefined
}

type DrillSaid = { exitCode: number } & (
  | { event: 'begun' | 'standing'; drill: DrillStanding }
  | { event: 'answered'; answer: { id: string; verdict: Verdict }; drill: DrillStanding }
  | ({ event: 'ended' } & DrillResult)
  | { event: 'history'; drills: readonly PastDrill[] }
)

/**
 * Does what one call of `lab drill` asks for. `exitCode`: 2 for a wrong answer, and doctor's while it is not healthy at
 * the end. Throws as the functions below.
 */
export async function drill(options: LabOptions, flags: DrillFlags): Promise<DrillSaid> {
  const { answer, done, giveUp, history, faults, seed, only } = flags
  const isNew = faults !== undefined || seed !== undefined || only !== undefined
  if (isNew && (history || giveUp || done || answer !== undefined))
    throw new AdminError(
      'USAGE',
      '--faults, --only and --seed begin a drill: no other flag of a drill goes with them',
      ['testops-admin lab drill --help'],
    )
  if (history) return { event: 'history', drills: await pastDrills(), exitCode: 0 }
  if (giveUp) return { event: 'ended', ...(await giveUpDrill(options)), exitCode: 0 }
  if (answer !== undefined) {
    const { verdict, standing } = await answerDrill(options, answer)
    return {
      event: 'answered',
      answer: { id: answer, verdict },
      drill: standing,
      exitCode: verdict === 'wrong' ? 2 : 0,
    }
  }
  if (done) {
    const said = await finishDrill(options)
    return 'past' in said
      ? { event: 'ended', ...said, exitCode: 0 }
      : { event: 'standing', drill: said, exitCode: said.doctor ?? 0 }
  }
  if (!isNew && (await isDrilling(options)))
    return { event: 'standing', drill: await drillStanding(options), exitCode: 0 }
  return {
    event: 'begun',
    drill: await beginDrill(options, { faults: faults === '2' ? 2 : 1, seed, only }),
    exitCode: 0,
  }
}

interface NewDrill {
  faults: 1 | 2
  seed: number | undefined
  only: string | undefined
}

/**
 * Begins a drill: breaks the healthy lab without naming a fault, and starts the clock. Throws REFUSED if the lab is not
 * healthy or a drill is under way; USAGE for a group that no check has; UNAVAILABLE, BUSY, FAILED, INTERRUPTED.
 */
async function beginDrill(options: LabOptions, { faults, seed, only }: NewDrill): Promise<DrillStanding> {
  const groups = drillGroups()
  if (only !== undefined && !groups.includes(only))
    throw new AdminError('USAGE', `no group \`${only}\` of faults for a drill; ${closestTo(only, groups)}`, [
      ...closestNames(only, groups).map((name) => command`testops-admin lab drill --only ${name}`),
    ])
  const { layout } = await openLab(options)
  return asOperator(
    layout,
    'lab drill',
    async () => {
      const lab = await openLab(options)
      await assertHealthy(lab)
      const draw = (it: number): readonly NamedCase[] =>
        drawFaults({ faults, seed: it, only: only ?? null }, lab.state.brokerLine)
      const request: DrillRequest = { faults, seed: seed ?? (await newSeed(draw)), only: only ?? null }
      const drawn = draw(request.seed)
      const record: DrillRecord = {
        id: randomUUID(),
        phase: 'breaking',
        request,
        faults: drawn.map(({ name }) => name),
        start: await currentInstant(),
        named: [],
        wrong: 0,
        healthySeconds: null,
      }
      // on disk first: a drill that is killed while it breaks the lab is not taken for a healthy lab
      await writeDrill(layout, record)
      lab.progress(`breaking the lab in ${faults === 1 ? 'a way' : 'two ways'} that this does not name`)
      await breakUnnamed(lab, drawn)
      const running: DrillRecord = { ...record, phase: 'running', start: await currentInstant() }
      await writeDrill(layout, running)
      return standing(running, null)
    },
    options,
  )
}

async function assertHealthy(lab: Lab): Promise<void> {
  const broken = lab.state.faults.filter(({ hidden }) => !hidden).map(({ name }) => name)
  const drill = await readDrill(lab.layout)
  if (drill?.phase === 'running')
    throw new AdminError('REFUSED', 'a drill is already under way', [
      'testops-admin lab drill   # shows where the drill stands',
      'testops-admin lab drill --give-up',
    ])
  const why = drill
    ? 'the last drill was interrupted while it broke the lab'
    : broken.length > 0
      ? `the lab is broken by ${broken.join(', ')}`
      : lab.state.faults.length > 0
        ? 'faults of the last drill are still in the lab'
        : null
  if (why !== null) throw new AdminError('REFUSED', `cannot begin a drill: ${why}`, ['testops-admin lab mend'])
  const report = await lab.diagnose(lab.signal)
  if (exitCodeOf(report) === 0) return
  const found = report.rootCauses.length > 0 ? `doctor finds ${report.rootCauses.join(', ')}` : 'doctor cannot tell'
  throw new AdminError('REFUSED', `cannot begin a drill: the lab is not healthy, ${found}`, [
    'testops-admin doctor -d lab',
    'testops-admin lab mend',
  ])
}

const seeds = 1_000_000
const mostTries = 20

/** Returns a random seed that does not draw the faults of the last drill again, if there are others. */
async function newSeed(draw: (seed: number) => readonly NamedCase[]): Promise<number> {
  const last = (await pastDrills().catch(() => [])).at(-1)
  const isSame = (seed: number): boolean => draw(seed).every(({ name }) => last?.faults.includes(name))
  let seed = randomInt(seeds)
  for (let tries = 1; tries < mostTries && isSame(seed); tries += 1) seed = randomInt(seeds)
  return seed
}

const showsWithinMs = 20_000

/** Makes the faults in silence, and waits until doctor names a root cause of each. */
async function breakUnnamed(lab: Lab, drawn: readonly NamedCase[]): Promise<void> {
  const silent: Lab = { ...lab, progress: () => undefined }
  try {
    await makeAll(silent, drawn, { hidden: true })
    for (const end = performance.now() + showsWithinMs; ; await sleep(250)) {
      goOn(lab)
      const { rootCauses } = await lab.diagnose(lab.signal)
      const unseen = drawn.filter((it) => !rootsOf(it).some((id) => rootCauses.includes(id)))
      if (unseen.length === 0) return
      if (performance.now() > end)
        throw new Error(`doctor does not name a cause of ${unseen.map(({ name }) => name).join(' and ')}`)
    }
  } catch (error) {
    if (lab.signal?.aborted) throw error
    throw new AdminError(
      'FAILED',
      `could not break the lab for a drill: ${messageOf(error)}`,
      ['testops-admin lab mend', 'testops-admin lab drill'],
      { cause: error },
    )
  }
}

/** True if a drill is under way. Throws UNAVAILABLE if there is no lab; FAILED if the drill's record is damaged. */
async function isDrilling(options: LabOptions): Promise<boolean> {
  await openLab(options)
  return (await readDrill(labLayout(options.root)))?.phase === 'running'
}

/** Examines the lab, and says where the drill stands. Throws UNAVAILABLE if none is under way; BUSY, INTERRUPTED. */
async function drillStanding(options: LabOptions): Promise<DrillStanding> {
  return inDrill(options, async (lab, record) => {
    const { record: seen, report } = await examined(lab, record)
    const servers = (await labStatus(options)).servers.filter(({ running }) => !running)
    return {
      ...(await standing(seen, report)),
      stopped: servers.map(({ kind }) => kind),
    }
  })
}

/** What naming a cause came to; known: it was named before. */
type Verdict = 'right' | 'wrong' | 'known'

/**
 * Judges a diagnosis: the id of a check that finds the root cause of a fault, or a fault's name. Counts wrong ones.
 * Throws USAGE for an id that does not exist, which does not count; as `drillStanding`.
 */
async function answerDrill(
  options: LabOptions,
  answer: string,
): Promise<{ verdict: Verdict; standing: DrillStanding }> {
  const cases = allCases()
  const known = [...checks.map(({ id }) => id), ...cases.flatMap(({ name, fault }) => [fault.id, name])]
  if (!known.includes(answer))
    throw new AdminError('USAGE', `no check or fault \`${answer}\`; ${closestTo(answer, known)}`, [
      ...closestNames(answer, known).map((name) => command`testops-admin lab drill --answer ${name}`),
      'testops-admin checks',
    ])
  return inDrill(options, async (lab, record) => {
    const { seconds } = secondsBetween(record.start, await currentInstant())
    const meant = cases.filter(
      (it) =>
        record.faults.includes(it.name) && ([it.fault.id, it.name].includes(answer) || rootsOf(it).includes(answer)),
    )
    const fresh = meant.filter(({ name }) => !record.named.some(({ fault }) => fault === name))
    const verdict: Verdict = meant.length === 0 ? 'wrong' : fresh.length === 0 ? 'known' : 'right'
    const after: DrillRecord = {
      ...record,
      wrong: record.wrong + (verdict === 'wrong' ? 1 : 0),
      named: [
        ...record.named,
        ...fresh.map((it) => ({
          fault: it.name,
          check: rootsOf(it).find((root) => root === answer) ?? rootsOf(it)[0]!,
          seconds,
        })),
      ],
    }
    await writeDrill(lab.layout, after)
    return { verdict, standing: await standing(after, null) }
  })
}

/**
 * Ends the drill if doctor is healthy: puts it on record, and removes what is left of its faults. Else says where it
 * stands. Throws FAILED if the lab does not become healthy without the faults; as `drillStanding`.
 */
async function finishDrill(options: LabOptions): Promise<DrillResult | DrillStanding> {
  return inDrill(options, async (lab, record) => {
    const { record: seen, report } = await examined(lab, record)
    if (exitCodeOf(report) !== 0) return standing(seen, report)
    return end(lab, 'done')
  })
}

/** Ends the drill, puts it on record as given up, and mends the lab. Throws as `finishDrill`. */
async function giveUpDrill(options: LabOptions): Promise<DrillResult> {
  return inDrill(options, async (lab) => end(lab, 'given-up'))
}

async function end(lab: Lab, outcome: 'done' | 'given-up'): Promise<DrillResult> {
  const past = (await endDrill(lab.layout, outcome, lab.progress))!
  await mendAll(lab)
  return drillResult(past, lab.layout.root)
}

/** Runs `work` on the drill that is under way, with the operator lock. Throws UNAVAILABLE if none is; BUSY. */
async function inDrill<T>(options: LabOptions, work: (lab: Lab, record: DrillRecord) => Promise<T>): Promise<T> {
  const { layout } = await openLab(options)
  return asOperator(
    layout,
    'lab drill',
    async () => {
      const lab = await openLab(options)
      const record = await readDrill(layout)
      if (record?.phase === 'running') return work(lab, record)
      throw record
        ? new AdminError('UNAVAILABLE', 'the last drill was interrupted before it began', ['testops-admin lab mend'])
        : new AdminError('UNAVAILABLE', 'no drill is under way', ['testops-admin lab drill'])
    },
    options,
  )
}

/** Examines the lab, and records since when it has been healthy. */
async function examined(lab: Lab, record: DrillRecord): Promise<{ record: DrillRecord; report: DoctorReport }> {
  const report = await lab.diagnose(lab.signal)
  const { seconds } = secondsBetween(record.start, await currentInstant())
  const healthySeconds = exitCodeOf(report) === 0 ? (record.healthySeconds ?? seconds) : null
  const seen = { ...record, healthySeconds }
  await writeDrill(lab.layout, seen)
  return { record: seen, report }
}

async function standing(record: DrillRecord, report: DoctorReport | null): Promise<DrillStanding> {
  return {
    startedAt: record.start.at,
    ...secondsBetween(record.start, await currentInstant()),
    faults: record.faults.length,
    named: record.named.map(({ check }) => check),
    wrong: record.wrong,
    doctor: report && exitCodeOf(report),
    stopped: [],
  }
}

/** Returns what a drill had, and the quickest way to mend it, with the commands for the lab in that folder. */
function drillResult(past: PastDrill, root: string): DrillResult {
  const known = allCases()
  const order = checks.map(({ id }) => id)
  const place = ({ rootCauses: [first = ''] }: DrillFault): number => order.indexOf(first)
  const faults = past.faults.map((name): DrillFault => {
    const it = known.find((one) => one.name === name)
    if (!it) return { name, made: null, rootCauses: [], quickest: [] }
    const [cause] = rootsOf(it)
    return {
      name,
      made: it.case.made,
      rootCauses: rootsOf(it),
      quickest: [
        'testops-admin doctor -d lab',
        command`testops-admin explain ${cause!}`,
        ...stepsOf(it.case).map((step) => commandOf(step, root)),
      ],
    }
  })
  // doctor shows them in this order
  return { past, faults: faults.sort((one, other) => place(one) - place(other)) }
}

function commandOf(step: DrillStep, root: string): Suggestion {
  return 'edit' in step
    ? command`${nested(editing(join(root, step.edit)))}   # ${nested(step.so)}`
    : typed(['testops-admin', ...step, '-d', 'lab'])
}
