import { readFileSync } from 'node:fs'

const linesOf = (name: string): readonly string[] =>
  readFileSync(new URL(`../../fixtures/redaction/${name}`, import.meta.url), 'utf8')
    .split('\n')
    .filter(Boolean)

/** Lines of logs, each with a secret. */
export const secretLines = linesOf('secret.txt')
/** Their opposites: what stands in logs, messages and commands, and is none. */
export const readableLines = linesOf('readable.txt')

/** Nothing of the secrets of these lines. */
export const leak = /hunter|SHVudGVyMnNlY3JldA|secret with blanks/i
