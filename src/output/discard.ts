import { command, nested, typed } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'
import { nextText } from './next.ts'
import { printable } from './text.ts'

/** What `discard --json` prints. */
export interface DiscardDocument {
  schemaVersion: 1
  deployment: string
  run: string
  outcome: 'planned' | 'done' | 'nothing-to-do'
  /** The file in which the record was saved; null if nothing was removed */
  saved: string | null
  /** With a dry run: reasons against removing the record, each with the name to accept it by */
  risks?: readonly { name: string; message: string }[]
}

/** Returns what `discard` prints. `again` is the command without --dry-run, which removes the record. */
export function discardText({ outcome, run, saved, risks = [] }: DiscardDocument, again: Suggestion): string {
  if (outcome === 'nothing-to-do')
    return `No record ${printable(run)} in this deployment: there is nothing to remove.\n`
  if (outcome === 'planned') {
    const accepted = risks.flatMap(({ name }) => ['--accept-risk', name])
    const next =
      risks.length === 0 ? again : command`${nested(again)} ${nested(typed(accepted))}   # only when you are sure`
    const said = risks.map(({ message }) => `${sentenceOf(printable(message))}\n`).join('')
    return `Nothing changed: this only shows the record.\n${said}\n${nextText(next)}`
  }
  return `Removed the record ${printable(run)}, and nothing else. It is saved in ${printable(saved ?? '')}\n`
}

function sentenceOf(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
}
