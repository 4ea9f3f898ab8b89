import { resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { jsonPieces } from '../../output/text.ts'
import { lintLines } from '../../output/lint/words.ts'
import { lintJunit } from '../../output/lint/junit.ts'
import { lintMarkdown } from '../../output/lint/markdown.ts'
import { lintSarif } from '../../output/lint/sarif.ts'
import { lintText } from '../../output/lint/text.ts'
import type { Screen } from '../../output/paint.ts'
import { areWarningsFailures } from './run-lint.ts'
import type { Linted } from './run-lint.ts'

/** Levels of lists and objects around a problem */
const depthOfProblems = 2

export const formats = ['table', 'junit', 'sarif', 'markdown', 'json'] as const
type Format = (typeof formats)[number]

export interface PrintOptions {
  format: Format
  ci: boolean
  verbose: boolean
  /** Version of this program */
  version: string
}

/** Yields the findings in the given format, in pieces: the text may be as large as what was judged. */
export function* lintPrinted(
  { document, judging, exitCode }: Linted,
  { format, ci, verbose, version }: PrintOptions,
  screen: Screen,
): Generator<string> {
  switch (format) {
    case 'json':
      yield* jsonPieces(document, depthOfProblems)
      yield '\n'
      break
    case 'junit':
      yield lintJunit(document, { at: new Date(), areWarningsFailures: areWarningsFailures(document, judging) })
      break
    case 'sarif':
      yield* lintSarif(document, {
        version,
        root: pathToFileURL(`${resolve(document.directory)}${sep}`).href,
        exitCode,
      })
      break
    case 'markdown':
      yield lintMarkdown(document, exitCode)
      break
    case 'table':
      if (ci) yield* lintLines(document, exitCode)
      else yield lintText(document, { screen, exitCode, verbose })
  }
}
