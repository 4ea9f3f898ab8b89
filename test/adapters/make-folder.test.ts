import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeFolder } from '../../src/adapters/replace-file.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'testops-admin-test-'))
})
afterAll(async () => rm(root, { recursive: true }))

test('makes what is missing, for this user alone, and says which is the topmost', async () => {
  expect(await makeFolder(join(root, 'a/b/c'))).toBe(join(root, 'a'))
  for (const it of ['a', 'a/b', 'a/b/c']) expect((await stat(join(root, it))).mode & 0o777).toBe(0o700)
  expect(await makeFolder(join(root, 'a/b/c'))).toBeUndefined()
})

test('several at once', async () => {
  const made = await Promise.all(Array.from({ length: 8 }, async () => makeFolder(join(root, 'many/b/c'))))
  expect(made).toContain(join(root, 'many'))
})

test.each([
  ['a file in the way', () => join(root, 'file'), 'EEXIST'],
  ['a file above it', () => join(root, 'file/a'), 'ENOTDIR'],
  ['a place where nothing can be made', () => '/proc/none/a/b', 'ENOENT'],
])('%s', async (_, path, code) => {
  await writeFile(join(root, 'file'), '')
  await expect(makeFolder(path())).rejects.toMatchObject({ code })
})
