import { checkTexts, faultTexts, signatureTexts, termTexts } from '../../../explain/index.yaml'
import type { ExplainEntry, ExplainText, SignatureText } from './entry.ts'
import { resolved } from './entry.ts'
import { command, nested } from '../../core/shell-command.ts'
import { signatures } from '../signatures.ts'

/** Returns the entry of a known log line. */
function signatureEntry({ id, meaning, cause, behind, log = 'SERVICE_LOG' }: SignatureText): ExplainEntry {
  const { title, severity, pattern, remedy, source } = signatures.find((it) => it.id === id)!
  const look = {
    text: 'Read about the cause, how to confirm it, and what to do.',
    commands: [command`testops-admin explain ${behind}`],
  }
  return {
    id,
    kind: 'signature',
    title,
    severities: severity === 'info' ? [] : [severity],
    meaning,
    causes: [cause],
    verify: [
      'testops-admin scan-logs',
      command`grep -E${nested(pattern.ignoreCase ? 'i' : '')} ${pattern.source} ${log} | tail`,
    ],
    remedies:
      remedy === null
        ? [look]
        : [look, { text: 'Once you have confirmed the cause, run this command.', commands: [remedy] }],
    source,
    signatures: [id],
    see: [behind],
  }
}

/** Every text of `explain` as it is written down: of checks, faults, lines of logs, and words. */
export const explainTexts: readonly ExplainText[] = [
  ...checkTexts,
  ...faultTexts,
  ...signatureTexts.map(signatureEntry),
  ...termTexts,
]

/** The same, each in full. */
export const explainEntries = resolved(explainTexts)
