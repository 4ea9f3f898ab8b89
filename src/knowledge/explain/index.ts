import { checkTexts, faultTexts, signatureTexts, termTexts } from '../../../explain/index.yaml'
import type { ExplainText } from './entry.ts'
import { resolved } from './resolve.ts'
import { signatureEntry } from './signature-entry.ts'

/** Every text of `explain` as it is written down: of checks, faults, lines of logs, and words. */
export const explainTexts: readonly ExplainText[] = [
  ...checkTexts,
  ...faultTexts,
  ...signatureTexts.map(signatureEntry),
  ...termTexts,
]

/** The same, each in full. */
export const explainEntries = resolved(explainTexts)
