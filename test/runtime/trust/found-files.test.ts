import { chmod, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runFolder } from '../../../src/adapters/run-folder.ts'
import { localLock, localOperator } from '../../../src/adapters/local-lock.ts'
import { projectAt } from '../../../src/platforms/compose/project.ts'
import { lintSettings } from '../../../src/runtime/lint/index.ts'
import { recordOf, run } from '../../engine/repairing.ts'
import { folderWith } from '../folder.ts'

test.each([
  ['the compose file here', 'docker-compose.yml', {}],
  ['its variables', '.env', {}],
  ['what its variables name as compose file', 'named.yml', { '.env': 'COMPOSE_FILE=named.yml\n' }],
])('%s, found and not named, is refused where others may write it', async (_, open, files) => {
  const folder = await folderWith({
    'docker-compose.yml': 'services: {}\n',
    'named.yml': 'services: {}\n',
    '.env': 'A=1\n',
    ...files,
  })
  expect(await projectAt(folder, {})).not.toBe(null)
  await chmod(join(folder, open), 0o666)
  await expect(projectAt(folder, {})).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: `the compose file ${folder}/${open} is not trusted: every user can write to it (mode 0666)`,
  })
  // the operator's own word
  expect(await projectAt(folder, { COMPOSE_FILE: join(folder, 'docker-compose.yml') })).not.toBe(null)
})

test('settings of lint-results that others may write are read, and name no file outside their folder', async () => {
  const folder = await folderWith({
    'a/.testops-lint.yaml': 'agent-log: agent.log\n',
    'b/.testops-lint.yaml': 'agent-log: ../secret\n',
    'c/.testops-lint.yaml': 'previous: link\n',
    secret: 'x',
    'a/agent.log': '',
  })
  await symlink('../secret', join(folder, 'c/link'))
  const read = async (of: string, environment = {}): ReturnType<typeof lintSettings> =>
    lintSettings({
      file: null,
      directories: [join(folder, of)],
      workingDirectory: folder,
      home: undefined,
      environment,
    })
  for (const of of ['a', 'b', 'c']) expect(await read(of)).not.toBe(null)
  for (const of of ['a', 'b', 'c']) await chmod(join(folder, of, '.testops-lint.yaml'), 0o666)
  expect(await read('a')).toMatchObject({ agentLogs: [join(folder, 'a/agent.log')] })
  for (const of of ['b', 'c'])
    await expect(read(of)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message:
        `the settings at ${of}/.testops-lint.yaml:1 name a file outside their folder, which only trusted ` +
        'settings may do. These settings are not trusted: every user can write to it (mode 0666)',
    })
  expect(await read('b', { TESTOPS_ADMIN_TRUST: join(folder, 'b/.testops-lint.yaml') })).not.toBe(null)
})

test('journals, kept secrets and locks that others may write are neither read nor written', async () => {
  const folder = await folderWith({})
  const store = runFolder(join(folder, 'prod/runs'))
  await (await store.begin(recordOf())).close()
  const secret = await store.keep!(run, 'former-A', 'before')
  expect(await store.keptText!(run, 'former-A')).toBe('before')

  await chmod(secret, 0o622)
  await expect(store.keptText!(run, 'former-A')).rejects.toMatchObject({
    code: 'REFUSED',
    message: `the file ${secret} is not trusted: every user can write to it (mode 0622)`,
  })
  await chmod(secret, 0o600)

  for (const name of ['run.json', 'journal.jsonl']) {
    const file = join(folder, 'prod/runs', run, name)
    await chmod(file, 0o666)
    await expect(store.read(run)).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(store.reopen(run)).rejects.toMatchObject({ code: 'REFUSED' })
    await chmod(file, 0o600)
  }
  await chmod(join(folder, 'prod'), 0o777)
  const lock = join(folder, 'prod/repair.lock')
  for (const work of [
    async () => store.list(),
    async () => store.read(run),
    async () => store.reopen(run),
    async () => store.keptText!(run, 'former-A'),
    async () => store.keep!(run, 'former-B', 'x'),
    async () => store.remove(run),
    async () => store.begin(recordOf()),
    async () => localOperator(lock),
    async () => localLock(lock, { who: 'me', what: 'x' }).take(),
  ])
    await expect(work()).rejects.toMatchObject({
      code: 'REFUSED',
      exitCode: 4,
      message: expect.stringContaining('every user can write to') as string,
    })
  await chmod(join(folder, 'prod'), 0o700)
  expect(await store.keptText!(run, 'former-A')).toBe('before')
})
