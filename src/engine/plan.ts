import { handlerOf } from '../actions/index.ts'
import type { Workshop } from '../actions/index.ts'
import type { Deployment } from '../core/deployment.ts'
import { AdminError } from '../core/error.ts'
import { counted } from '../core/format.ts'
import { commandOf, risksOf } from '../core/plan.ts'
import type { Plan } from '../core/plan.ts'
import type { Repair } from '../core/repair.ts'
import type { SourceName } from '../core/sources.ts'
import type { OpenSources } from './judge.ts'
import type { ActionKind } from '../core/action.ts'
import type { RunHistory, Journals } from '../core/run.ts'
import { command } from '../core/shell-command.ts'

/** Any repair, whatever its sources and options. */
export interface AnyRepair extends Pick<Repair, 'id' | 'title' | 'reads' | 'wants'> {
  plan(sources: never, deployment: Deployment, options: never): ReturnType<Repair['plan']>
}

/**
 * Opens the sources of a repair and makes its plan; changes nothing. Throws what opening a source throws, and what the
 * repair throws.
 */
export async function makePlan(
  repair: AnyRepair,
  open: OpenSources,
  deployment: Deployment,
  options: Readonly<Record<string, unknown>>,
): Promise<Plan> {
  const needed = repair.reads.map(async (name) => [name, await open[name]()] as const)
  const wanted = repair.wants.map(async (name) => [name, await orError(open, name)] as const)
  const sources = Object.fromEntries(await Promise.all([...needed, ...wanted]))
  const draft = await repair.plan(sources as never, deployment, options as never)
  const strange = draft.risks.find(({ name }) => !risksOf[repair.id].includes(name))
  if (strange) throw new Error(`${repair.id} names a risk that core/plan.ts does not list: ${strange.name}`)
  const { name, cluster } = deployment
  // servers inside clusters and compose projects have the same names everywhere, so the cluster tells them apart
  return {
    repair: repair.id,
    deployment: name,
    ...draft,
    target: { ...(cluster !== undefined && { cluster }), ...draft.target },
    options,
  }
}

async function orError(open: OpenSources, name: SourceName): Promise<unknown> {
  try {
    return await open[name]()
  } catch (error) {
    if (error instanceof AdminError) return error
    throw error
  }
}

/**
 * Adds to a plan what the journals of this deployment show: how long such steps took, and why only this machine could
 * resume the run.
 */
export async function foresee(plan: Plan, journals: Journals, { file }: Pick<Deployment, 'file'> = {}): Promise<Plan> {
  if (plan.steps.length === 0) return plan
  const former = await journals.here.list()
  const usual = usualDurations(former.flatMap((it) => ('record' in it ? [it] : [])))
  // a file is on this machine anyway
  const alone = file ? null : await reasonAlone(journals)
  return {
    ...plan,
    notes:
      alone === null
        ? plan.notes
        : [
            ...plan.notes,
            `\`resume\` works only on this machine, because the deployment cannot keep a copy of the run's ` +
              `record: ${alone}`,
          ],
    expectedMs: plan.steps.map(({ action }) => usual.get(action.kind) ?? null),
  }
}

/**
 * Returns what would stop which step, and what to type about it, as far as that can be asked without changing anything:
 * a right that this user lacks (FORBIDDEN), or a refusal (REFUSED). Throws INTERRUPTED.
 */
export async function lackedRights(
  { steps }: Pick<Plan, 'steps'>,
  workshop: Pick<Workshop, 'open' | 'control'>,
): Promise<readonly { step: number; error: AdminError }[]> {
  const tried = steps.map(async ({ action }, step) => {
    try {
      await handlerOf(action).askRights?.(action, workshop)
      return []
    } catch (error) {
      if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
      return error.code === 'FORBIDDEN' || error.code === 'REFUSED' ? [{ step, error }] : []
    }
  })
  const lacked = (await Promise.all(tried)).flat()
  // several steps need the same right
  return lacked.filter((it, at) => lacked.findIndex(({ error }) => error.message === it.error.message) === at)
}

/** Returns the median duration of each kind of action that was performed in one go, in milliseconds (DESIGN.md 6.1). */
function usualDurations(histories: readonly RunHistory[]): ReadonlyMap<ActionKind, number> {
  const taken = new Map<ActionKind, number[]>()
  for (const { record, events } of histories) {
    record.plan.steps.forEach(({ action }, index) => {
      const own = events.filter((event) => 'step' in event && event.step === index)
      const [begun, done] = own
      if (begun?.event !== 'intent' || done?.event !== 'done' || done.already) return
      taken.set(action.kind, [...(taken.get(action.kind) ?? []), done.durationMs])
    })
  }
  return new Map([...taken].map(([kind, all]) => [kind, all.sort((a, b) => a - b)[Math.floor((all.length - 1) / 2)]!]))
}

/** Returns why the deployment can keep no journal; null if it can. */
async function reasonAlone({ there }: Journals): Promise<string | null> {
  try {
    await there()
    return null
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return error.message
    throw error
  }
}

/**
 * Keys whose values change by themselves between two looks at a deployment (DESIGN.md 6.3): counts, and whether a
 * failing service happens to be up.
 */
const moving = new Set(['counts', 'wasRunning', 'interrupts'])
/** Another version of this program may word a step differently; its action says what it does */
const movingOrWords = new Set([...moving, 'title'])

/**
 * Throws REFUSED if the plan made now differs from the confirmed one: identities, rows, settings or the set of targets.
 * Counts may differ, unless more messages would be lost now.
 */
export function refuseIfStale(seen: Plan, now: Plan): void {
  const parts = [
    ['its target', seen.target, now.target],
    ['its steps', seen.steps, now.steps],
    ['its risks', seen.risks.map(({ name }) => name), now.risks.map(({ name }) => name)],
    ['its options', seen.options, now.options],
  ] as const
  const differing = parts.filter(
    ([, before, after]) => canonical(before, movingOrWords) !== canonical(after, movingOrWords),
  )
  if (differing.length === 0) return refuseIfMoreIsLost(seen, now)
  const what = differing.map(([name]) => name).join(', ')
  throw new AdminError(
    'REFUSED',
    `the deployment has changed since the plan was made: a new plan would differ in ${what}`,
    [command`testops-admin ${commandOf(seen.repair)} -d {deployment} --dry-run`],
  )
}

function refuseIfMoreIsLost(seen: Plan, now: Plan): void {
  const [before, after] = [messagesLost(seen), messagesLost(now)]
  if (after <= before) return
  throw new AdminError(
    'REFUSED',
    `the repair would now lose ${counted(after, 'message')}; when the plan was made, it would have lost ${before}`,
    [command`testops-admin ${commandOf(seen.repair)} -d {deployment} --dry-run`],
  )
}

function messagesLost({ steps }: Plan): number {
  return steps.reduce(
    (sum, { action }) => sum + (action.kind === 'delete-queues' && action.discards ? action.counts.messages : 0),
    0,
  )
}

/**
 * Returns the same text for equal values, whatever the order of their keys. `leaving`: keys whose values are ignored.
 */
export function canonical(value: unknown, leaving: ReadonlySet<string> = moving): string {
  return JSON.stringify(value, (key, it: unknown) => {
    if (leaving.has(key)) return undefined
    if (typeof it !== 'object' || it === null || Array.isArray(it)) return it
    return Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
