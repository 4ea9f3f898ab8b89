import { expect, test } from 'vitest'
import { oneLine } from '../../../src/adapters/failure.ts'
import { firstLine } from '../../../src/core/format.ts'
import { beginningWithoutSecrets, withoutSecrets } from '../../../src/core/redaction/index.ts'
import { sampleText } from '../../../src/logs/scan/sample.ts'
import { explainDocument } from '../../../src/output/explain.ts'
import { quoted } from '../../../src/results/rules/said.ts'
import { secretLines } from './lines.ts'

/** Not even the beginning of the secrets. */
const beginning = /hunt|SHVu/i

test.each(secretLines.map((line) => [line]))('what is cut is hidden before: %s', (line) => {
  for (let before = 0; before <= 320; before += 3) {
    const text = `${'x '.repeat(before / 2)}${line}`
    const outs = [
      firstLine(text, 300),
      firstLine(text, 80),
      oneLine(text),
      quoted(text),
      explainDocument(text, { found: [], nearest: [] }).query,
      sampleText({ kind: '', before: text, after: 'HTTP FAILED', isStart: true, isEnd: true }, withoutSecrets),
      sampleText({ kind: '', before: '', after: `HTTP FAILED ${text}`, isStart: false, isEnd: true }, withoutSecrets),
    ]
    for (const out of outs) expect(out).not.toMatch(beginning)
  }
})

test('no mask is cut in two, and what is cut is clean as it is', () => {
  const text = `password=${'Hunter2secret'} and token=Hunter2secret-and-more, then others`
  const clean = withoutSecrets(text)
  for (let most = 1; most <= clean.length + 1; most += 1) {
    const cut = beginningWithoutSecrets(text, most)
    expect(clean.startsWith(cut)).toBe(true)
    expect(cut.length).toBeGreaterThanOrEqual(Math.min(most, clean.length))
    expect(cut.length).toBeLessThanOrEqual(most + '[secret]'.length)
    expect(cut.replaceAll('[secret]', '')).not.toContain('[')
    expect(withoutSecrets(`\`${cut}\`, next`)).toBe(`\`${cut}\`, next`)
  }
  expect(beginningWithoutSecrets('login failed, token=[secret-7] x', 25)).toBe('login failed, token=[secret-7]')
  expect(beginningWithoutSecrets('password: Hunter2secret x', 9)).toBe('password: [secret]')
  expect(beginningWithoutSecrets(text, 500)).toBe(clean)
  expect(beginningWithoutSecrets('[list] of no secrets', 3)).toBe('[li')
})

test('a mask with a number, as a report has it, is one too', () => {
  for (const text of [
    'password=[secret-1]',
    '{"password":"[secret-12]"}',
    'password: [secret-3], token=[secret-4]',
    'postgres://u:[secret-1]@host/db',
    'gitlab: [secret]: connection refused by host db1',
    'password=[secret-1]: connection refused by db1',
  ])
    expect(withoutSecrets(text)).toBe(text)
})

test('a secret around the place at which a sample is found is hidden on both sides', () => {
  expect(
    sampleText(
      { kind: '', before: 'a "password":"Hunter2 ', after: 'HTTP FAILED secret", b', isStart: true, isEnd: true },
      withoutSecrets,
    ),
  ).toBe('a "password":"[secret]", b')
})
