import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLog } from '../../src/adapters/log-file.ts'
import { plainFile } from '../../src/adapters/open-file.ts'
import { filesSource } from '../../src/adapters/settings-file/index.ts'
import { projectAt } from '../../src/platforms/compose/project.ts'
import { bytesOf } from '../../src/platforms/host/environment.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-open-'))
})
afterEach(async () => rm(folder, { recursive: true, force: true }))

const inPlaceOf: [what: string, make: (path: string) => unknown][] = [
  ['a pipe to which nobody writes', (path) => execFileSync('mkfifo', [path])],
  ['a device without an end', (path) => symlink('/dev/zero', path)],
  ['a folder', (path) => mkdir(path)],
  ['a terabyte', async (path) => (await writeFile(path, ''), await truncate(path, 1e12))],
]

test.each(inPlaceOf)('what is read at once is not held up by %s', async (what, make) => {
  const [file, dotenv] = [join(folder, 'file'), join(folder, '.env')]
  await make(file)
  await make(dotenv)
  await expect(plainFile(file, 1000)).rejects.toThrow(/regular file|folder|more than 1000 bytes/)
  await expect(bytesOf({ path: file, optional: false })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(await projectAt(folder, {})).toBe(null)
  expect(await filesSource().variable(join(folder, 'compose.yaml'), 'A')).toBe(null)
  if (what !== 'a terabyte')
    await expect(openLog({ file }, { timeoutMs: 1000 }).newest({ maxBytes: 1000 })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    })
})
