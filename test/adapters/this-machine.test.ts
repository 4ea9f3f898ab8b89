import { chmod, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { isThisMachine } from '../../src/adapters/network.ts'
import { passingFolder } from '../support/passing-folder.ts'

test.each([
  ['localhost', true],
  ['127.0.0.1', true],
  [hostname(), true],
  ['192.0.2.1', false],
  ['nowhere.invalid', false],
])('%s: %s', async (host, is) => {
  expect(await isThisMachine(host, { timeoutMs: 20_000 })).toBe(is)
})

test('a name of which no name server says anything is none of this machine, and is not waited for', async () => {
  const folder = await passingFolder()
  // as every program that looks a name up, where the name server is silent
  await writeFile(join(folder, 'getent'), '#!/bin/sh\nexec /bin/sleep 30\n')
  await chmod(join(folder, 'getent'), 0o755)
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await isThisMachine('silent.corp.invalid', { timeoutMs: 100 })).toBe(false)
}, 20_000)
