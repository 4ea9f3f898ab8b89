import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import type { SecretReference } from '../../../src/runtime/configuration/nodes.ts'
import { readCertificates, secretReader } from '../../../src/runtime/configuration/secrets.ts'
import { errorOf } from '../error-of.ts'
import { folderWith } from '../folder.ts'

const at = 'testops-admin.yaml:4'
const environment = {
  KUBECONFIG: '/none/config',
  TOKEN: 'from-env',
  EMPTY: '',
  LINES: 'one\ntwo',
  SPACED: 'one\n\n',
  CONTROL: 'a\u0000b',
}
const fetch = secretReader({ environment, timeoutMs: 1500 })
const env = (variable: string): SecretReference => ({ at, form: 'env', variable })
const file = (path: string): SecretReference => ({ at, form: 'file', path })
const command = (...words: string[]): SecretReference => ({ at, form: 'command', command: words })
const shell = (script: string): SecretReference => command('sh', '-c', script)

describe('a secret is what stands there, without the end of its line', () => {
  const value = async (reference: SecretReference): Promise<string> => (await fetch(reference)).reveal()

  test('in the environment, in a file, from a command', async () => {
    const folder = await folderWith({ secret: ' from-file \n', windows: 'from-file\r\n' })
    expect(await value(env('TOKEN'))).toBe('from-env')
    expect(await value(file(join(folder, 'secret')))).toBe(' from-file ')
    expect(await value(file(join(folder, 'windows')))).toBe('from-file')
    expect(await value(command('printf', 'from\\tcommand\\n'))).toBe('from\tcommand')
  })

  test('fetched once, however often it is asked for: a pipe is empty the second time', async () => {
    const folder = await folderWith({})
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const [first] = await Promise.all([value(file(pipe)), writeFile(pipe, 'once\n')])
    expect([first, await value(file(pipe))]).toEqual(['once', 'once'])

    const counting = shell(`echo x >> ${join(folder, 'asked')}; echo token`)
    expect(await Promise.all([value(counting), value({ ...counting }), value(counting)])).toEqual([
      'token',
      'token',
      'token',
    ])
    expect(await readFile(join(folder, 'asked'), 'utf8')).toBe('x\n')
  })
})

const fileIsOneLine = '   # the file must contain one line: the secret and nothing else'
const printsOneLine = '   # the command must print one line: the secret and nothing else'
const setAnew = (variable: string): string =>
  `read -rs ${variable} && export ${variable}   # then paste the secret as a single line`

describe('one that cannot be had is named with its line, what was said, and no part of it', () => {
  test.each<[what: string, reference: (folder: string) => SecretReference, message: string, hints?: string[]]>([
    ['not set', () => env('NONE'), 'missing: the environment variable NONE is not set', [setAnew('NONE')]],
    ['set to nothing', () => env('EMPTY'), 'missing: the environment variable EMPTY is empty', [setAnew('EMPTY')]],
    [
      'several lines',
      () => env('LINES'),
      'cannot be used: the environment variable LINES contains 2 lines, but a secret must be one line',
      [setAnew('LINES')],
    ],
    [
      'a line end too many',
      () => env('SPACED'),
      'cannot be used: the environment variable SPACED begins or ends with an empty line, ' +
        'but a secret must be one line',
      [setAnew('SPACED')],
    ],
    [
      'what no text has',
      () => env('CONTROL'),
      'cannot be used: the environment variable CONTROL contains control characters',
      [setAnew('CONTROL')],
    ],
    [
      'no file',
      (folder) => file(join(folder, 'none')),
      'missing: the file FOLDER/none cannot be read: the file is missing',
    ],
    ['a folder', (folder) => file(folder), 'missing: the file FOLDER cannot be read: it is a directory'],
    [
      'an empty file',
      (folder) => file(join(folder, 'empty')),
      'missing: the file FOLDER/empty is empty',
      [`wc FOLDER/empty${fileIsOneLine}`],
    ],
    [
      'a file of lines',
      (folder) => file(join(folder, 'lines')),
      'cannot be used: the file FOLDER/lines contains 3 lines, but a secret must be one line',
      [`wc FOLDER/lines${fileIsOneLine}`],
    ],
    [
      'a file without end',
      () => file('/dev/zero'),
      'cannot be used: the file /dev/zero contains more than 100000 bytes',
    ],
    [
      'a pipe without writer',
      (folder) => file(join(folder, 'pipe')),
      'missing: the file FOLDER/pipe returned nothing within 1.5 s',
    ],
    [
      'no program',
      () => command('no-such-program'),
      'missing: no-such-program is not installed on this machine',
      ['command -v no-such-program'],
    ],
    [
      'a program that prints nothing',
      () => command('true'),
      'missing: the command `true` printed nothing',
      [`true | wc${printsOneLine}`],
    ],
    [
      'a program that fails half way',
      () => shell('echo half-a-secret; echo Vault is sealed >&2; exit 2'),
      "missing: the command `sh -c 'echo half-a-secret; echo Vault is sealed >&2; exit 2'` exited with 2: " +
        'Vault is sealed',
      ["sh -c 'echo half-a-secret; echo Vault is sealed >&2; exit 2'"],
    ],
    [
      'a program that quotes what it printed',
      () => command('sh', '-c', 'cat "$0"; echo "cannot use `cat $0`, sorry" >&2; exit 1', 'FOLDER/one'),
      'missing: the command `sh -c \'cat "$0"; echo "cannot use `cat $0`, sorry" >&2; exit 1\' FOLDER/one` ' +
        'exited with 1: cannot use [secret], sorry',
      ['sh -c \'cat "$0"; echo "cannot use `cat $0`, sorry" >&2; exit 1\' FOLDER/one'],
    ],
    [
      'a program that prints lines',
      (folder) => command('cat', join(folder, 'lines')),
      'cannot be used: the command `cat FOLDER/lines` printed 3 lines, but a secret must be one line',
      [`cat FOLDER/lines | wc${printsOneLine}`],
    ],
    [
      'a program that prints 10 MB',
      () => shell('head -c 10000000 /dev/zero'),
      "missing: `sh -c 'head -c 10000000 /dev/zero'` wrote more than 100000 bytes",
      ["sh -c 'head -c 10000000 /dev/zero'"],
    ],
    [
      'a cluster',
      () => ({ at, form: 'kubernetesSecret', name: 'testops/dbPass' }),
      'missing: the Secret `testops/dbPass` of the cluster cannot be read: no cluster is known: kubectl has no ' +
        'configuration in /none/config, and testops-admin does not run in a pod',
      ['kubectl config get-contexts', 'export KUBECONFIG=FILE'],
    ],
  ])('%s', async (_, reference, message, hints = []) => {
    const folder = await folderWith({ empty: '\n', lines: 'first\nsecond\nthird\n', one: 'the-secret\n' })
    execFileSync('mkfifo', [join(folder, 'pipe')])
    const wanted = JSON.parse(JSON.stringify(reference(folder)).replaceAll('FOLDER', folder)) as SecretReference
    const error = await fetch(wanted).catch((thrown: unknown) => thrown)
    const said = JSON.parse(JSON.stringify(error).replaceAll(folder, 'FOLDER')) as AdminError
    expect(error).toBeInstanceOf(AdminError)
    expect({
      code: said.code,
      message: (error as AdminError).message.replaceAll(folder, 'FOLDER'),
      hints: said.suggestions,
    }).toEqual({
      code: 'SECRET_MISSING',
      message: `the secret at ${at} ${message.startsWith('missing') ? 'is ' : ''}${message}`,
      hints,
    })
    expect((error as AdminError).exitCode).toBe(64)
  })

  test.each(['sleep 9', 'sleep 9; echo late', 'echo half-a-secret; echo Password: >&2; sleep 9'])(
    'one that waits: %s',
    async (script) => {
      const started = performance.now()
      const error = (await fetch(shell(script)).catch((thrown: unknown) => thrown)) as AdminError
      expect(error).toMatchObject({ code: 'SECRET_MISSING', exitCode: 64 })
      expect(error.message).toMatch(
        /^the secret at testops-admin\.yaml:4 is missing: `sh -c .*` did not finish within 1\.5 s/,
      )
      expect(error.suggestions).toEqual([
        `sh -c '${script}'   # shows what the command waits for`,
        '--timeout 9   # gives the command more time',
      ])
      expect(performance.now() - started).toBeLessThan(4000)
    },
  )
})

test('an interruption is none of these', async () => {
  const controller = new AbortController()
  const interruptible = secretReader({ environment, timeoutMs: 20_000, signal: controller.signal })
  const folder = await folderWith({})
  execFileSync('mkfifo', [join(folder, 'pipe')])
  const both = Promise.all([
    errorOf(interruptible(command('sleep', '30'))),
    errorOf(interruptible(file(join(folder, 'pipe')))),
  ])
  setTimeout(() => controller.abort(), 100)
  expect((await both).map((text) => text.split(':')[0])).toEqual(['INTERRUPTED', 'INTERRUPTED'])
})

test('a certificate file must hold one', async () => {
  const folder = await folderWith({
    'ca.pem': '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n',
    'key.pem': 'x',
  })
  expect(await readCertificates({ path: join(folder, 'ca.pem'), at })).toContain('BEGIN CERTIFICATE')
  expect((await errorOf(readCertificates({ path: join(folder, 'key.pem'), at }))).replace(folder, 'FOLDER')).toBe(
    'CONFIGURATION: the certificate file FOLDER/key.pem (testops-admin.yaml:4) cannot be used: the file ' +
      'contains no certificate in PEM format',
  )
  expect((await errorOf(readCertificates({ path: join(folder, 'none'), at }))).replace(folder, 'FOLDER')).toBe(
    'CONFIGURATION: the certificate file FOLDER/none (testops-admin.yaml:4) cannot be used: the file is missing',
  )
})
