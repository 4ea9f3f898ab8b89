import type { Plan } from './plan.ts'
import type { RepairOutcome, RunError } from './run.ts'

/** What a repair prints under --json once it has a plan (DESIGN.md 4). */
export interface RepairDocument {
  schemaVersion: 1
  /** null: nothing was begun */
  run: string | null
  /** of the plan, so that `apply` sees whether a saved one is whole */
  hash: string
  plan: Plan
  /** steps by their place in the plan, from 0; `results`: what one has come to, for people */
  applied: readonly { step: number; status: 'done' | 'already' | 'failed' | 'undone'; durationMs: number; results?: readonly string[] }[]
  /** each check by its status; a problem by its severity */
  verification: Readonly<Record<string, string>>
  outcome: RepairOutcome
  error?: RunError
}
