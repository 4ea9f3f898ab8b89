import { readFile } from 'node:fs/promises'
import { parseEnvironmentFile } from '../platforms/host/index.ts'
import { overlayOf } from './changes.ts'
import type { Lab } from './lab.ts'
import { unitIn } from './service-control/unit.ts'
import type { BrokenFault } from './state.ts'

/**
 * The faults that are on record, with the settings that somebody has set since they were made, as a repair does: these
 * stay, whatever is broken beside them. One that was made in part only may not have written its own yet.
 */
export async function faultsAsRepaired({ layout, state: { faults } }: Lab): Promise<readonly BrokenFault[]> {
  if (faults.some(({ state }) => state === 'half')) return faults
  const written = overlayOf(faults.map(({ changes }) => changes)).environment
  const current = parseEnvironmentFile(await readFile(unitIn(layout.service).environmentFile, 'utf8'))
  const since = Object.keys(written).filter((name) => (current.get(name) ?? null) !== written[name])
  return faults.map((fault) => {
    const { environment } = fault.changes
    if (environment === undefined) return fault
    const kept = Object.entries(environment).map(
      ([name, value]) => [name, since.includes(name) ? (current.get(name) ?? null) : value] as const,
    )
    return { ...fault, changes: { ...fault.changes, environment: Object.fromEntries(kept) } }
  })
}
