import type { Suggestion } from '../../core/shell-command.ts'
import { command } from '../../core/shell-command.ts'
import type { SignatureId } from '../signatures.ts'
import type { ReaderName } from './readers.ts'

/** One text of `explain`: what a name stands for, why it happens, how to see it, what to do. */
export interface ExplainEntry extends ExplainSigns {
  /** Id of a check, or the row of a fault in the fault matrix */
  id: string
  kind: 'fault' | 'check' | 'signature' | 'term'
  /** Title; of a check, the healthy state */
  title: string
  /** How grave a problem found by the check can be; empty if it is no problem by itself */
  severities: readonly ('error' | 'warning')[]
  meaning: string
  causes: readonly string[]
  /** Commands to see it with one's own eyes; blanks to fill in are in capitals */
  verify: readonly Suggestion[]
  remedies: readonly { text: string; commands: readonly Suggestion[] }[]
  /** Where the facts come from */
  source: string
  /** Entries that say more */
  see?: readonly string[]
}

/** What an entry is found by, besides its id, its title and its text. */
interface ExplainSigns {
  /** Signatures of the log that show it for certain */
  signatures?: readonly string[]
  /** Other words that show it for certain, in lower case with single blanks */
  messages?: readonly string[]
  /** Expressions that show it for certain; repetition in them has a limit */
  patterns?: readonly RegExp[]
  /** Name of the reader that decides whether a whole piece of log shows it */
  reader?: ReaderName
  /** What the web interface, or a setting, calls it: as good as the id */
  names?: readonly string[]
  /** What people say who meet it, in both languages */
  words?: readonly string[]
}

/**
 * An entry that refers to another: its meaning continues with that one's, and what it leaves out comes from that one.
 */
interface ExplainReference
  extends Pick<ExplainEntry, 'id' | 'kind' | 'title' | 'meaning'>,
    Partial<Pick<ExplainEntry, 'severities' | 'causes' | 'verify' | 'remedies' | 'source' | 'see'>>,
    ExplainSigns {
  of: string
  /** Which of that one's remedies fit, counted from 0; absent: all */
  fitting?: readonly number[]
}

/** An entry as it is written down. */
export type ExplainText = ExplainEntry | ExplainReference

/** The text on a known log line; a line with the name of a fault is explained there. */
export interface SignatureText {
  id: SignatureId
  meaning: string
  cause: string
  /** The entry that explains what is behind it, and what to do */
  behind: string
  /** A blank for the log that contains it */
  log?: string
}

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
