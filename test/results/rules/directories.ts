import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { lintResults } from '../../../src/results/lint.ts'
import type { LintOptions } from '../../../src/results/problem.ts'

/** What the files of a directory hold, by their paths; what is no text is written as JSON. */
export type Files = Readonly<Record<string, unknown>>

/** A directory of these files, until the test has finished. */
export function directoryOf(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'results-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(
      join(folder, name),
      typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content),
    )
  }
  return folder
}

/** What `lint-results` tells of a directory: `SEVERITY RULE FILE PLACE`; nothing may be left unclear. */
export async function problemsIn(directory: string, options: Partial<LintOptions> = {}): Promise<string[]> {
  const report = await lintResults({
    directories: [directory],
    previous: null,
    agentLogs: [],
    severities: new Map(),
    changing: [],
    ...options,
  })
  const unclear = report.undetermined.map(({ file, message }) => `unclear ${file}: ${message}`)
  return [
    ...report.problems.map(({ severity, rule, file, place }) => [severity, rule, file, place ?? ''].join(' ').trim()),
    ...unclear,
  ]
}
