/** One text of `explain`: what a name stands for, why it happens, how to see it, what to do. */
export interface ExplainEntry {
  /** of a check: its id */
  id: string
  kind: 'fault' | 'check' | 'signature' | 'term'
  /** of a check: its title, the healthy state */
  title: string
  /** how grave a problem found by the check can be */
  severities: readonly ('error' | 'warning')[]
  meaning: string
  /** whether a pasted piece of the service's log tells of it for certain */
  isToldBy?: (log: string) => boolean
  causes: readonly string[]
  /** commands to see it with one's own eyes; blanks to fill in are in capitals */
  verify: readonly string[]
  remedies: readonly { text: string; commands: readonly string[] }[]
  /** where the facts come from */
  source: string
}
