import { checkTexts, faultTexts, signatureTexts, termTexts } from '../../../explain/index.yaml'
import type { ExplainEntry, ExplainText, SignatureText } from './entry.ts'
import { resolved } from './entry.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { Say, TranslatedEntry, Translation } from '../../core/translation.ts'
import { signatures } from '../signatures.ts'
import type { SearchAnswer } from './search/search.ts'

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

/** Returns what was found in another language. What is not translated stays English. */
export function inLanguage({ found, nearest }: SearchAnswer, { texts, sentences }: Translation): SearchAnswer {
  const whole = resolved(explainTexts.map((text) => translated(text, texts.entries[text.id], sentences)))
  const byId = new Map(whole.map((entry) => [entry.id, entry]))
  return { found: found.map(({ entry, score }) => ({ entry: byId.get(entry.id) ?? entry, score })), nearest }
}

function translated(text: ExplainText, own: TranslatedEntry | undefined, say: Say): ExplainText {
  const {
    title = text.title,
    meaning = text.meaning,
    cause,
    causes = cause === undefined ? undefined : [cause],
  } = own ?? {}
  const { remedies } = text
  return {
    ...text,
    title,
    meaning,
    ...(causes?.length === text.causes?.length && causes && { causes }),
    ...(remedies && {
      remedies: remedies.map((it, at) => ({ ...it, text: own?.remedies?.[at] ?? say(it.text) })),
    }),
  }
}
