import { signatures } from '../../signatures.ts'
import type { ExplainText } from '../entry.ts'
import { readers } from '../readers.ts'
import type { Pasted } from './pasted.ts'

/** Scores: shown by more than one line; shown by the web interface itself; a fault; a check; no problem; a mere line */
const [certain, asShown, told, checked, harmless, line] = [0.97, 0.96, 0.95, 0.93, 0.9, 0.85] as const

/** Returns the entries that a pasted text shows for certain, best first, with the checks that find them. */
export function byMessage(query: Pasted, texts: readonly ExplainText[]): { text: ExplainText; score: number }[] {
  const seen = new Set<string>(
    signatures.filter(({ pattern }) => new RegExp(pattern.source, 'i').test(query.flat)).map(({ id }) => id),
  )
  const whole = query.lines.join('\n')
  const isRead = ({ reader }: ExplainText): boolean => reader !== undefined && readers[reader](whole)
  const isTold = ({ signatures: ids = [], messages = [], patterns = [] }: ExplainText): boolean =>
    ids.some((id) => seen.has(id)) ||
    messages.some((message) => query.flat.includes(message)) ||
    patterns.some((pattern) => pattern.test(query.flat))
  const found = texts.filter((text) => isTold(text) || isRead(text))
  const behind = new Set(found.flatMap((text) => ('of' in text ? [text.of] : [])))
  const checks = texts.filter((text) => behind.has(text.id) && !found.includes(text))
  return [
    ...found.map((text) => ({ text, score: isRead(text) ? certain : scoreOf(text) })),
    ...checks.map((text) => ({ text, score: harmless })),
  ].sort((a, b) => b.score - a.score)
}

function scoreOf({ kind, severities }: ExplainText): number {
  if (kind === 'signature') return line
  if (kind === 'check') return checked
  if (kind === 'term') return asShown
  return kind === 'fault' && severities?.length === 0 ? harmless : told
}
