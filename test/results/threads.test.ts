import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { packageFolder } from '../../src/core/package-parts.ts'
import { lint, resultsDirectory } from './linted.ts'

const text = fc.constantFrom(
  'a',
  'org.example.A#b',
  'x'.repeat(300),
  '/tmp/run-1',
  '',
  'é',
  '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
)
const source = fc.constantFrom('x.txt', 'y.txt', 'sub/z.txt', 'missing.txt', 'z.txt')
const anyResult = fc.record(
  {
    name: text,
    fullName: text,
    status: fc.constantFrom('passed', 'failed', 'skipped'),
    start: fc.nat(1000),
    stop: fc.nat(1000),
    labels: fc.array(
      fc.record({
        name: fc.constantFrom('AS_ID', 'as_id', 'suite'),
        value: fc.constantFrom('1', '2', 'x', 'y'.repeat(256)),
      }),
      { maxLength: 3 },
    ),
    parameters: fc.array(fc.record({ name: text, value: text }), { maxLength: 2 }),
    attachments: fc.array(fc.record({ source }), { maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const anyContent = fc.oneof(
  { weight: 20, arbitrary: anyResult.map((it) => JSON.stringify(it)) },
  fc.constantFrom('', '{', '[]', '{}', '7', '{"name": 1}', '{"name": "a"} x'),
  anyResult.map((it) => `${JSON.stringify(it).slice(0, -1)}\xff`),
)

/** Files of a directory; some more of the same, so that there are several chunks. */
const anyDirectory = fc.array(anyContent, { minLength: 10, maxLength: 40 }).map((contents) => {
  const results = Array.from({ length: 900 }, (_, index) => [
    `${index}-result.json`,
    Buffer.from(contents[(index * 7) % contents.length]!, 'latin1'),
  ])
  return {
    ...Object.fromEntries(results),
    'x.txt': '',
    'y.txt': '',
    'orphan.txt': '',
    'sub/z.txt': '',
    'c-container.json': '{"befores":[{"attachments":[{"source":"y.txt"}]}]}',
  } as Record<string, unknown>
})

it('several threads say what one says', async () => {
  expect(existsSync(join(packageFolder(), 'dist/results/run/worker.js')), 'npm run build').toBe(true)
  await fc.assert(
    fc.asyncProperty(anyDirectory, anyDirectory, async (files, earlier) => {
      const [folder, previous] = [resultsDirectory(files), resultsDirectory(earlier)]
      const options = {
        previous,
        changing: ['a'],
        severities: new Map([
          ['long-field', 'error'],
          ['no-identifier', 'off'],
        ] as const),
      }
      const alone = await lint(folder, options, { threads: 1 })
      expect(await lint(folder, options, { threads: 3 })).toEqual(alone)
      expect(alone.problems.length).toBeGreaterThan(0)
    }),
    { numRuns: 5 },
  )
}, 120_000)

it('several threads end when they are told to', async () => {
  const folder = resultsDirectory(
    Object.fromEntries(
      Array.from({ length: 2000 }, (_, index) => [
        `${index}-result.json`,
        { name: 'a', description: 'x'.repeat(2000) },
      ]),
    ),
  )
  const later = new AbortController()
  setTimeout(() => later.abort(new Error('enough')), 20)
  await expect(lint(folder, { signal: later.signal }, { threads: 3 })).rejects.toThrow('enough')
})
