import type { Suggestion } from '../../core/shell-command.ts'
import type { SignatureId } from '../signatures.ts'
import type { ReaderName } from './readers.ts'

/** One text of `explain`: what a name stands for, why it happens, how to see it, what to do. */
export interface ExplainEntry extends ExplainSigns {
  /** of a check: its id; of a fault: its row in the fault matrix */
  id: string
  kind: 'fault' | 'check' | 'signature' | 'term'
  /** of a check: its title, the healthy state */
  title: string
  /** how grave a problem found by the check can be; empty: it is no problem by itself */
  severities: readonly ('error' | 'warning')[]
  meaning: string
  causes: readonly string[]
  /** commands to see it with one's own eyes; blanks to fill in are in capitals */
  verify: readonly string[]
  remedies: readonly { text: string; commands: readonly Suggestion[] }[]
  /** where the facts come from */
  source: string
  /** entries that say more */
  see?: readonly string[]
}

/** By what an entry is found, beside its id, its title and its text. */
interface ExplainSigns {
  /** signatures of the log that tell of it for certain */
  signatures?: readonly string[]
  /** other words that tell of it for certain, in lower case with single blanks */
  messages?: readonly string[]
  /** expressions that do; what is repeated in them has a limit */
  patterns?: readonly RegExp[]
  /** what reads in a whole piece of log whether it tells of it */
  reader?: ReaderName
  /** what the web interface, or a setting, calls it: as good as the id */
  names?: readonly string[]
  /** what whoever meets it says, in both languages */
  words?: readonly string[]
}

/**
 * An entry of which another says the most: its meaning goes on with that one's, and what it leaves out is that one's.
 */
interface ExplainReference
  extends Pick<ExplainEntry, 'id' | 'kind' | 'title' | 'meaning'>,
    Partial<Pick<ExplainEntry, 'severities' | 'causes' | 'verify' | 'remedies' | 'source' | 'see'>>,
    ExplainSigns {
  of: string
  /** which of that one's remedies fit, from 0 on; left out: all */
  fitting?: readonly number[]
}

/** As it is written down. */
export type ExplainText = ExplainEntry | ExplainReference

/** What is written of a line that is known in logs; one that bears the name of a fault is told of there. */
export interface SignatureText {
  id: SignatureId
  meaning: string
  cause: string
  /** the entry that tells what is behind it, and what to do */
  behind: string
  /** a blank for the log that holds it */
  log?: string
}
