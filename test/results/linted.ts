import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { distinctDirectories, lintResults } from '../../src/results/lint.ts'
import type { LintParts } from '../../src/results/lint.ts'
import type { LintOptions, LintReport } from '../../src/results/problem.ts'

/** A directory with these files, until the test has finished; what is no text is written as JSON. */
export function resultsDirectory(files: Readonly<Record<string, unknown>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  addFiles(folder, files)
  return folder
}

export function addFiles(folder: string, files: Readonly<Record<string, unknown>>): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content))
  }
}

/** A result with nothing wrong. */
export function result(more: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    uuid: 'u',
    fullName: 'org.example.A#a',
    name: 'a',
    status: 'passed',
    labels: [{ name: 'AS_ID', value: '7' }],
    start: 1000,
    stop: 2000,
    ...more,
  }
}

/** The directories are named as the command's are. */
export function lint(
  directories: string | readonly string[],
  options: Partial<LintOptions> = {},
  parts: LintParts = {},
): Promise<LintReport> {
  return lintResults(
    {
      directories: distinctDirectories([directories].flat()),
      previous: null,
      agentLogs: [],
      severities: new Map(),
      changing: [],
      ...options,
    },
    parts,
  )
}

/** `rule file` of each problem, in their order, and `? file` of what could not be told. */
export function said({ problems, undetermined }: LintReport): string[] {
  return [
    ...problems.map(({ rule, file }) => `${rule} ${file}`.trimEnd()),
    ...undetermined.map(({ file, message }) => `? ${file}: ${message}`),
  ]
}
