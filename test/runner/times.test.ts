import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { corrected, readTimes, writeTimes } from './times.ts'

it('puts the slowest first, and leaves out what is short', () => {
  const times = corrected({}, { 'test/a.test.ts': 12.4, 'test/b.test.ts': 9.9, 'test/c.test.ts': 70 })
  expect(Object.entries(times)).toEqual([
    ['test/c.test.ts', 70],
    ['test/a.test.ts', 12],
  ])
})

it('keeps a time that is off by less than a half, and those of files that did not run', () => {
  const known = { 'test/a.test.ts': 60, 'test/b.test.ts': 40, 'test/c.test.ts': 30, 'test/d.test.ts': 20 }
  expect(corrected(known, { 'test/a.test.ts': 85, 'test/b.test.ts': 61, 'test/d.test.ts': 0.1 })).toEqual({
    'test/a.test.ts': 60,
    'test/b.test.ts': 61,
    'test/c.test.ts': 30,
  })
})

it('reads what it wrote, and nothing from a damaged list', () => {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-times-'))
  try {
    const file = join(folder, 'times.json')
    expect(readTimes(file)).toEqual({})
    writeTimes({ 'test/a.test.ts': 60 }, file)
    expect([readTimes(file), readdirSync(folder)]).toEqual([{ 'test/a.test.ts': 60 }, ['times.json']])
    for (const damaged of ['{', 'null', '[]', '{"test/a.test.ts":"60"}']) {
      writeFileSync(file, damaged)
      expect(readTimes(file)).toEqual({})
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
})
