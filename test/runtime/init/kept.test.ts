import { chmod, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keptAnswers } from '../../../src/runtime/init/write.ts'
import type { KeptAnswers } from '../../../src/runtime/init/write.ts'
import { folderWith } from '../folder.ts'

const at = async (folder: string, file = '/etc/testops-admin.yaml'): Promise<KeptAnswers> =>
  keptAnswers(file, { XDG_STATE_HOME: folder })
const drafts = (folder: string): string => join(folder, 'testops-admin/init')

test('what was answered is there again, for the same file alone, and for its owner alone', async () => {
  const folder = await folderWith({})
  await (await at(folder)).keep('url', 'https://testops.example.org')
  await (await at(folder, '/other.yaml')).keep('url', 'https://other.example.org')
  const again = await at(folder)
  expect([again.of('url'), again.of('unit'), again.count(), again.failure()]).toEqual([
    'https://testops.example.org',
    undefined,
    1,
    null,
  ])
  const names = await readdir(drafts(folder))
  expect([
    names.length,
    (await stat(join(drafts(folder), names[0]!))).mode & 0o777,
    (await stat(drafts(folder))).mode & 0o777,
  ]).toEqual([2, 0o600, 0o700])
  await again.forget()
  expect((await at(folder)).count()).toBe(0)
  expect((await at(folder, '/other.yaml')).count()).toBe(1)
})

test('a secret is not kept', async () => {
  const folder = await folderWith({})
  const kept = await at(folder)
  await kept.keep('start-command', '/opt/service start --password=hunter2')
  await kept.keep('unit', 'testops')
  const [name] = await readdir(drafts(folder))
  expect(await readFile(join(drafts(folder), name!), 'utf8')).toBe(
    '{"file":"/etc/testops-admin.yaml","answers":{"unit":"testops"}}\n',
  )
})

test.each(['', 'no JSON', '[]', 'null', '{"answers":{"unit":1}}', '{"answers":7}', 'x'.repeat(200_000)])(
  'a draft that is damaged is none: %s',
  async (text) => {
    const folder = await folderWith({})
    await (await at(folder)).keep('unit', 'testops')
    const [name] = await readdir(drafts(folder))
    await writeFile(join(drafts(folder), name!), text)
    expect((await at(folder)).count()).toBe(0)
  },
)

test('a folder that others may write is neither read nor written', async () => {
  const folder = await folderWith({})
  await (await at(folder)).keep('unit', 'testops')
  await chmod(drafts(folder), 0o777)
  const again = await at(folder)
  expect(again.count()).toBe(0)
  await again.keep('unit', 'other')
  expect(again.failure()).toMatch(/is not trusted/)
})

test('where the state folder cannot be made, that is said', async () => {
  const folder = await folderWith({ file: '' })
  const kept = await at(join(folder, 'file'))
  await kept.keep('unit', 'testops')
  expect([kept.of('unit'), kept.failure()]).toEqual(['testops', expect.any(String)])
})
