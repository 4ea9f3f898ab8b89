import { printable } from './text.ts'

/** What `discard --json` prints. */
export interface DiscardDocument {
  schemaVersion: 1
  deployment: string
  run: string
  outcome: 'planned' | 'done' | 'nothing-to-do'
  /** the file in which the record was saved; null: nothing was removed */
  saved: string | null
}

export function discardText({ outcome, run, saved }: DiscardDocument): string {
  if (outcome === 'nothing-to-do')
    return `No record ${printable(run)} in this deployment: there is nothing to remove.\n`
  if (outcome === 'planned') return 'Nothing changed: this only shows the record.\n'
  return `Removed the record ${printable(run)}, and nothing else. It is saved in ${printable(saved ?? '')}\n`
}
