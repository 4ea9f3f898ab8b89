import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { lintDocument } from '../../../src/cli/lint/document.ts'
import { formats, lintPrinted } from '../../../src/cli/lint/print.ts'
import { plainScreen } from '../../../src/output/paint.ts'
import { mendedCopy } from '../../../src/results/fix/index.ts'
import { lintResults } from '../../../src/results/lint.ts'
import { shown } from '../reader.ts'
import type { Reader } from '../reader.ts'

const full = {
  uuid: '6f1c2d3e-0000-4000-8000-000000000001',
  historyId: 'h',
  testCaseId: 't',
  fullName: 'org.example.A#a',
  name: 'a test',
  status: 'failed',
  statusDetails: { message: 'expected 1', trace: 'at x', known: false },
  stage: 'finished',
  labels: [
    { name: 'AS_ID', value: '7' },
    { name: 'suite', value: 's' },
    { name: 'tag', value: '2026-11-21T02:12:44Z' },
  ],
  links: [{ name: 'X-1', url: 'https://tracker.example.org/X-1', type: 'issue' }],
  parameters: [
    { name: 'p', value: '{"a":1}', excluded: false, mode: 'default' },
    { name: 'q', value: 'com.example.A@1f2e3d4c' },
  ],
  attachments: [
    { name: 'log', source: 'a-attachment.txt', type: 'text/plain' },
    { name: 'in', source: 'sub/b.txt', type: 'text/plain' },
  ],
  steps: [
    {
      name: 's',
      status: 'passed',
      steps: [{ name: 'inner', status: 'broken', attachments: [{ name: 'x', source: 'missing.png' }] }],
      start: 1,
      stop: 2,
    },
  ],
  start: 1_795_000_000_000,
  stop: 1_795_000_001_000,
}

/** One file of results, judged, printed in every format, and mended. */
export const result: Reader = {
  name: 'result',
  syntax: 'json',
  seeds: [
    full,
    { ...full, steps: [], fullName: 'x'.repeat(300) },
    { uuid: 'u', name: 'n', status: 'passed', start: 1, stop: 2 },
  ].map((it) => JSON.stringify(it)),
  async open(folder) {
    const [from, output] = [join(folder, 'results'), join(folder, 'mended')]
    await mkdir(join(from, 'sub'), { recursive: true })
    await writeFile(join(from, 'a-attachment.txt'), 'a')
    await writeFile(join(from, 'sub', 'b.txt'), 'b')
    let count = 0
    return {
      async read(input) {
        const names = ['one-result.json', 'one-container.json', 'environment.properties', 'executor.json']
        const name = count % 16 === 0 ? names[(count / 16) % names.length]! : names[0]!
        count += 1
        await writeFile(join(from, name), input)
        try {
          await look(count)
        } finally {
          await rm(join(from, name))
        }
      },
    }

    async function look(number: number): Promise<void> {
      const options = { directories: [from], previous: null, agentLogs: [], severities: new Map(), changing: [] }
      const report = await lintResults(options, { threads: 1 })
      // writing a copy waits for the disk
      const isMended = number % 10 === 0
      const fix = isMended ? await mend() : undefined
      const document = lintDocument(report, { severities: new Map(), workingDirectory: folder, ...(fix && { fix }) })
      const linted = { document, judging: { failOn: 'warning', maxWarnings: null }, exitCode: 1 } as const
      for (const format of formats) {
        for (const ci of [false, true]) {
          const text = [...lintPrinted(linted, { format, ci, verbose: true, version: '1' }, plainScreen)].join('')
          if (format === 'json' || format === 'sarif') JSON.parse(text)
          else shown(text)
        }
      }
    }

    async function mend(): Promise<Parameters<typeof lintDocument>[1]['fix']> {
      const report = await mendedCopy({
        from,
        output,
        off: new Set(),
        writers: { own: '1-1', hasEnded: async () => true },
        signal: new AbortController().signal,
      })
      await lintResults(
        { directories: [output], previous: null, agentLogs: [], severities: new Map(), changing: [] },
        { threads: 1 },
      )
      await rm(output, { recursive: true })
      return { from, output, ...report, mended: Object.fromEntries(report.mended) }
    }
  },
}
