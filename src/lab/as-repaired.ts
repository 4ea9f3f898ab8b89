import { readFile } from 'node:fs/promises'
import { parseEnvironmentFile } from '../platforms/host/index.ts'
import { overlayOf } from './changes.ts'
import type { Lab } from './lab.ts'
import { unitIn } from './service-control/unit.ts'
import type { BrokenFault } from './state.ts'

/**
 * The recorded faults, with any settings that somebody has changed since, as a repair does. Those settings stay when
 * another fault is made. While a fault is half made, the record stays as it is: its settings may not be written yet.
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
