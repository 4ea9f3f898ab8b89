import type { Deployment } from '../core/deployment.ts'
import { AdminError } from '../core/error.ts'
import { risksOf } from '../core/plan.ts'
import type { Plan } from '../core/plan.ts'
import type { Repair } from '../core/repair.ts'
import type { SourceName } from '../core/sources.ts'
import type { OpenSources } from './sources.ts'

/** Any repair, whatever it reads and is told. */
export interface AnyRepair extends Pick<Repair, 'id' | 'title' | 'reads' | 'wants'> {
  plan(sources: never, deployment: Deployment, options: never): ReturnType<Repair['plan']>
}

/**
 * Opens what the repair reads and makes its plan; changes nothing. Throws what opening throws, and what the repair
 * throws.
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
  // inside clusters and compose projects servers have the same names everywhere
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
