import { resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { lintLines } from '../../output/lint/lines.ts'
import { lintJunit } from '../../output/lint/junit.ts'
import { lintMarkdown } from '../../output/lint/markdown.ts'
import { lintSarif } from '../../output/lint/sarif.ts'
import { lintText } from '../../output/lint/text.ts'
import type { Screen } from '../../output/screen.ts'
import { areWarningsFailures } from './exit-code.ts'
import type { Linted } from './run-lint.ts'

export const formats = ['table', 'junit', 'sarif', 'markdown', 'json'] as const
type Format = (typeof formats)[number]

export interface PrintOptions {
  format: Exclude<Format, 'json'>
  ci: boolean
  verbose: boolean
  /** of this program */
  version: string
}

/** What was found in the format that was asked for. */
export function lintPrinted({ document, judging, exitCode }: Linted, { format, ci, verbose, version }: PrintOptions, screen: Screen): string {
  switch (format) {
    case 'junit':
      return lintJunit(document, { at: new Date(), areWarningsFailures: areWarningsFailures(document, judging) })
    case 'sarif':
      return lintSarif(document, { version, root: pathToFileURL(`${resolve(document.directory)}${sep}`).href, exitCode })
    case 'markdown':
      return lintMarkdown(document, exitCode)
    case 'table':
      return ci ? lintLines(document, exitCode) : lintText(document, { screen, exitCode, verbose })
  }
}
