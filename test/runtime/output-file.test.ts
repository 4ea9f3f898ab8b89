import { join } from 'node:path'
import { expect, test } from 'vitest'
import { notReplaced } from '../../src/adapters/replace-file.ts'
import { writeOutputFiles } from '../../src/runtime/output-file.ts'
import { folderWith } from './folder.ts'

test.each([
  ['EROFS', 'FORBIDDEN', 'its file system is read-only', ['findmnt -T /a']],
  [
    'EACCES',
    'FORBIDDEN',
    'this user has no permission to write the file or its folder',
    ['ls -ld /a /a/b', 'run the same command with sudo'],
  ],
  ['ENOSPC', 'UNAVAILABLE', 'the disk is full', ['df -H /a']],
  ['EDQUOT', 'UNAVAILABLE', 'the disk quota is used up', ['quota -s']],
  ['ENOENT', 'UNAVAILABLE', 'its folder does not exist', ['ls -ld /a /a/b']],
  ['EIO', 'UNAVAILABLE', 'i/o error', ['ls -ld /a /a/b']],
])('%s: what helps is suggested', (code, kind, why, suggestions) => {
  expect(notReplaced('/a/b', Object.assign(new Error('i/o error'), { code }))).toMatchObject({
    code: kind,
    message: `/a/b cannot be changed: ${why}`,
    suggestions,
  })
})

test('a missing file is not taken for a missing folder', () => {
  const error = Object.assign(new Error('no such file'), { code: 'ENOENT' })
  expect(notReplaced('/proc/b', error).message).toBe('/proc/b cannot be changed: no such file')
})

test('every file that was not written is named, and the others are written', async () => {
  const folder = await folderWith({ 'there/x': '' })
  const outputs = ['gone/a.md', 'there/b.md', 'gone/c.md'].map((name) => ({ path: join(folder, name), format: name }))
  expect(await writeOutputFiles(outputs, (format) => format)).toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(
      /^\S+\/gone\/a\.md cannot be changed: .*\. Not written either: \S+\/gone\/c\.md$/,
    ) as string,
  })
})
