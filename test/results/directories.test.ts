import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { lint, result, resultsDirectory, said } from './linted.ts'

test('thousands of directories are judged, each in about the time of one', async () => {
  const names = Array.from({ length: 2000 }, (_, at) => `${at}`)
  const folder = resultsDirectory(
    Object.fromEntries(names.map((name) => [`${name}/a-result.json`, result({ fullName: name })])),
  )
  const { directories, problems } = await lint(names.map((name) => join(folder, name)))
  expect([directories.length, problems]).toEqual([2000, []])
})

test('a directory that is judged by itself, named by a link too, is no subdirectory', async () => {
  const folder = resultsDirectory({
    'a-result.json': result(),
    'inner/b-result.json': result({ fullName: 'b' }),
    'inner/x-attachment.txt': '',
    'other/y-attachment.txt': '',
  })
  const link = join(resultsDirectory(), 'link')
  symlinkSync(join(folder, 'inner'), link)
  expect(said(await lint([folder, link])).sort()).toEqual([
    'nested-attachment other/y-attachment.txt',
    'orphan-attachment x-attachment.txt',
  ])
})
