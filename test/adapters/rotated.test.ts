import { utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isRotatedFrom, rotatedSet } from '../../src/adapters/log-file.ts'
import { folderWith } from '../runtime/folder.ts'

describe('what was rotated from a log is known by its name', () => {
  test.each([
    ['app.log', 'app.log.1', true],
    ['app.log', 'app.log.12.gz', true],
    ['app.log', 'app.log-20261121', true],
    ['app.log', 'app.log-20261121.zst', true],
    ['app.log', 'app.log.2026-11-21.0.gz', true],
    ['app.log', 'app-2026-11-21.0.log.gz', true],
    ['app.log', 'app.2026-11-21.log', true],
    ['app.log', 'app-2026-11-21_13-05.log', true],
    ['app.log', 'app.log.2.xz', true],
    ['app.log', 'app.log-20261121.bz2', true],
    ['app.log', 'app.3.log', true],
    ['messages', 'messages.1', true],
    ['messages', 'messages-20261121.gz', true],
    ['app.log', 'app.log', false],
    ['app.log', 'app-1.log', false],
    ['app.log', 'app-errors.log', false],
    ['app.log', 'app.log.bak', false],
    ['app.log', 'app.log.1.part', false],
    ['app.log', 'other.log.1', false],
    ['app.log', 'app2.log.1', false],
    ['app+x(1).log', 'app+x(1).log.1', true],
  ])('%s, %s: %s', (log, name, expected) => {
    expect(isRotatedFrom(log, name)).toBe(expected)
  })
})

test('a set is in the order in which it was written, without what is older than wanted', async () => {
  const names = ['app.log', 'app.log.1', 'app.log.2.gz', 'app-2026-11-20.0.log', 'unrelated.log', 'app.log.3']
  const folder = await folderWith(Object.fromEntries(names.map((name) => [name, name])))
  const now = Date.now() / 1000
  const age = async (name: string, hours: number): Promise<void> => utimes(join(folder, name), 0, now - hours * 3600)
  for (const [name, hours] of [
    ['app.log.1', 24],
    ['app.log.2.gz', 48],
    ['app-2026-11-20.0.log', 36],
    ['app.log.3', 48],
  ] as const)
    await age(name, hours)
  const set = async (since?: Date): Promise<string[]> =>
    (await rotatedSet(join(folder, 'app.log'), since)).map((path) => basename(path))
  // of two that were written at one time, the higher number is older
  expect(await set()).toEqual(['app.log.3', 'app.log.2.gz', 'app-2026-11-20.0.log', 'app.log.1', 'app.log'])
  expect(await set(new Date(Date.now() - 30 * 3_600_000))).toEqual(['app.log.1', 'app.log'])
})

test('a log that is not there, or whose folder is not, is its own set', async () => {
  expect(await rotatedSet('/nonexistent/app.log')).toEqual(['/nonexistent/app.log'])
})
