import type { ExplainEntry, ExplainText } from './entry.ts'
import { command } from '../../core/shell-command.ts'

/** Returns every entry in full: an entry that refers to another takes from it what it leaves out itself. */
export function resolved(texts: readonly ExplainText[]): readonly ExplainEntry[] {
  const whole = new Map(texts.flatMap((text) => ('of' in text ? [] : [[text.id, text] as const])))
  return texts.map((text) => {
    if (!('of' in text)) return text
    const base = whole.get(text.of)
    if (!base) throw new Error(`${text.id} refers to ${text.of}, which does not exist`)
    const { of, meaning, fitting, see = [], ...own } = text
    const { severities, causes, source } = base
    const verify = base.kind === 'check' ? [command`testops-admin doctor --only ${of}`, ...base.verify] : base.verify
    const remedies = base.remedies.filter((_, index) => fitting?.includes(index) ?? true)
    return {
      severities,
      causes,
      verify,
      remedies,
      source,
      ...own,
      meaning: `${meaning} ${base.meaning}`,
      see: [of, ...see],
    }
  })
}
