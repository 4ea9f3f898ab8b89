import { chmod, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import { assertSecret, judge, problemOfName } from '../../../src/runtime/init/judge.ts'
import type { Path } from '../../../src/runtime/init/judge.ts'
import { asNobody } from '../../support/as-nobody.ts'
import { folderWith } from '../folder.ts'

const around = (directory: string): { subject: string; directory: string; environment: Record<string, string> } => ({
  subject: '--flag',
  directory,
  environment: { PATH: '/bin:/usr/bin', TOKEN: 'abc', BAD: ' abc' },
})
async function said(path: Path, answer: string, directory = '/'): Promise<string> {
  return judge(path, answer, around(directory)).then(
    ({ value }) => JSON.stringify(value),
    (error: unknown) => {
      if (!(error instanceof AdminError)) throw error
      return [error.message, ...error.suggestions].join(' | ')
    },
  )
}

test.each<[string, Path, string, string]>([
  ['an address', ['url'], 'https://testops.example.org', '"https://testops.example.org"'],
  [
    'one without a scheme',
    ['url'],
    'testops.example.org',
    '--flag must begin with http:// or https://, most likely https://testops.example.org | for example: ' +
      'https://testops.example.org',
  ],
  [
    'a scheme of another part',
    ['broker', 'url'],
    'http://h',
    '--flag must begin with amqp:// or amqps:// | for example: amqp://testops@mq.example.org',
  ],
  [
    'a port that is none',
    ['sessions', 'url'],
    'redis://h:99999/0',
    '--flag has a port outside 1 to 65535 | for example: redis://redis.example.org:6379/0',
  ],
  [
    'a database without a name',
    ['database', 'url'],
    'postgresql://h',
    '--flag names no database | for example: postgresql://testops@db.example.org/testops',
  ],
  [
    'a password in an address',
    ['database', 'url'],
    'postgresql://u:hunter2@h/d',
    '--flag holds a password; remove it, and say with --database-password where the password is kept | for ' +
      'example: postgresql://testops@db.example.org/testops',
  ],
  ['a unit', ['host', 'unit'], 'a b', '--flag is not the name of a systemd unit | for example: testops'],
  [
    'a namespace',
    ['kubernetes', 'namespace'],
    'Test_Ops',
    '--flag must be lower-case letters, digits and dashes | for example: testops',
  ],
  [
    'a release',
    ['kubernetes', 'release'],
    '-x',
    '--flag must be lower-case letters, digits, dots and dashes | for example: testops',
  ],
  [
    'a project',
    ['compose', 'project'],
    'a/b',
    '--flag must contain only letters, digits, dots, dashes and underscores, and begin with a letter, a digit ' +
      'or an underscore | for example: testops',
  ],
  ['nothing', ['host', 'unit'], ' ', '--flag is empty | for example: testops'],
  ['100 kB', ['host', 'unit'], 'x'.repeat(100_000), '--flag is longer than 1000 characters | for example: testops'],
  [
    'control characters',
    ['host', 'unit'],
    'a\u001b[2Jb',
    '--flag contains a character that cannot be displayed | for example: testops',
  ],
  ['a command', ['host', 'commands', 'start'], 'sh -c "exit 0"', '["sh","-c","exit 0"]'],
  [
    'a program that is not here',
    ['host', 'commands', 'start'],
    'no-such-program start',
    '--flag starts a program that this machine cannot run: no-such-program | for example: ' +
      "'/opt/testops/bin/service start'",
  ],
  [
    'what needs a shell',
    ['host', 'commands', 'stop'],
    'sh stop && true',
    '--flag uses shell syntax, but runs without a shell. Put the command into a script | for example: ' +
      "'/opt/testops/bin/service stop'",
  ],
  [
    'a secret in clear',
    ['apiToken'],
    'hunter2',
    '--flag must say where the secret is kept, and must not be the secret itself. Use env:NAME or file:PATH | ' +
      '--flag env:NAME | --flag file:PATH',
  ],
  ['where a secret is kept', ['apiToken'], 'file:token', '{"file":"/token"}'],
])('%s', async (_, path, answer, expected) => {
  expect(await said(path, answer)).toBe(expected)
})

test('a file has to be there; one that this user may not read is doubtful', async () => {
  const folder = await folderWith({ 'a.env': 'TZ=UTC\n' })
  await symlink('loop', join(folder, 'loop'))
  const path = ['host', 'environmentFile'] as const
  expect(await said(path, 'a.env', folder)).toBe(JSON.stringify(join(folder, 'a.env')))
  expect(await said(path, 'b.env', folder)).toContain(
    `--flag names a file that does not exist: ${join(folder, 'b.env')}`,
  )
  expect(await said(path, 'a.env/b', folder)).toContain('--flag names a file that does not exist')
  expect(await said(path, '.', folder)).toContain(`--flag does not name a regular file: ${folder}`)
  expect(await said(path, 'loop', folder)).toContain('--flag names a file that cannot be read: ELOOP')
  if (process.geteuid?.() !== 0) return
  await chmod(folder, 0o755)
  expect((await asNobody(async () => judge(path, 'a.env', around(folder)))).doubt).toBe(
    `this user may not read ${join(folder, 'a.env')}`,
  )
})

test('a secret is read where it is kept, and judged', async () => {
  const options = around(await folderWith({ two: 'a\nb\n' }))
  const message = async (path: Path, answer: string): Promise<string | null> =>
    assertSecret(path, answer, options, 500).then(
      () => null,
      (error: Error) => error.message,
    )
  expect(await message(['apiToken'], 'env:TOKEN')).toBe(null)
  expect(await message(['database', 'password'], 'env:BAD')).toBe(null)
  expect(await message(['apiToken'], 'env:BAD')).toBe(
    'the secret at env:BAD cannot be used: the environment variable BAD begins with whitespace, which an API token ' +
      'never does',
  )
  expect(await message(['apiToken'], 'env:NONE')).toBe(
    'the secret at env:NONE is missing: the environment variable NONE is not set',
  )
  expect(await message(['apiToken'], 'file:two')).toMatch(/contains 2 lines, but a secret must be one line$/)
})

test('the name of a deployment', () => {
  expect([problemOfName('old-box'), problemOfName('a b'), problemOfName('')]).toEqual([
    null,
    'must contain only letters, digits, dots, dashes and underscores (63 at most), and begin with a letter or a digit',
    'is empty',
  ])
})
