import type { ExplainText } from '../knowledge/explain/entry.ts'
import { resolved } from '../knowledge/explain/resolve.ts'
import { ruleIds } from '../knowledge/result-rules.ts'
import { linkedSource, markdownTable } from './markdown.ts'

/**
 * Returns the table of known faults in docs/reference/faults.md: what one sees of each, what finds it, what repairs it.
 * `repairs` are the names of the commands that repair.
 */
export function knownFaultsTable(texts: readonly ExplainText[], repairs: readonly string[]): string {
  const entries = new Map(resolved(texts).map((entry) => [entry.id, entry]))
  const rows = texts
    .filter(({ kind }) => kind === 'fault')
    .map((text) => {
      const { id, title, remedies, source } = entries.get(text.id)!
      const commands = remedies
        .flatMap((remedy) => remedy.commands)
        .filter((command) => !/--(accept-risk|dry-run)/.test(command))
      const repair = commands.find((command) => repairs.some((words) => command.startsWith(`testops-admin ${words}`)))
      return [
        code(id),
        title,
        firstSentence(text.meaning),
        finderOf(text),
        repair === undefined ? remedies[0]!.text : code(repair),
        linkedSource(source),
      ]
    })
  return markdownTable(['fault', 'what is wrong', 'what one sees', 'found by', 'repaired by', 'source'], rows)
}

function finderOf(text: ExplainText): string {
  if ('of' in text) return `\`doctor\`: ${code(text.of)}`
  const isRule = (ruleIds as readonly string[]).includes(text.id)
  if (isRule)
    return text.signatures !== undefined || text.reader !== undefined
      ? `${code('lint-results')}, ${code('scan-logs')}`
      : code('lint-results')
  const command = text.verify.find((it) => /^testops-admin (?!doctor)/.test(it))
  if (text.signatures !== undefined || text.reader !== undefined) return code('scan-logs')
  return command === undefined ? 'by hand' : code(command.split(' ')[1]!)
}

function firstSentence(text: string): string {
  return /^.*?[.!](?= [A-Z`]|$)/.exec(text)?.[0] ?? text
}

function code(text: string): string {
  return `\`${text}\``
}
