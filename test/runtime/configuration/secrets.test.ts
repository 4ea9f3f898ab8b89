import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SecretReference } from '../../../src/runtime/configuration/nodes.ts'
import { readCertificates, readSecret } from '../../../src/runtime/configuration/secrets.ts'
import { errorOf } from '../error-of.ts'
import { folderWith } from '../folder.ts'

const options = { environment: { TOKEN: 'from-env', EMPTY: '' }, timeoutMs: 2000 }
const at = 'testops-admin.yaml:4'

const read = async (reference: SecretReference): Promise<string> => (await readSecret(reference, options)).reveal()

test('each form gives the secret, without the end of its line', async () => {
  const folder = await folderWith({ secret: ' from-file \n', windows: 'from-file\r\n' })
  expect(await read({ at, form: 'env', variable: 'TOKEN' })).toBe('from-env')
  expect(await read({ at, form: 'file', path: join(folder, 'secret') })).toBe(' from-file ')
  expect(await read({ at, form: 'file', path: join(folder, 'windows') })).toBe('from-file')
  expect(await read({ at, form: 'command', command: ['printf', 'from\\tcommand\\n'] })).toBe('from\tcommand')
})

test('what is missing is named with its line', async () => {
  const folder = await folderWith({ empty: '\n' })
  const failure = async (reference: SecretReference): Promise<string> =>
    (await errorOf(readSecret(reference, options))).replaceAll(folder, 'FOLDER')
  expect(await failure({ at, form: 'env', variable: 'NONE' })).toBe(
    'SECRET_MISSING: the secret at testops-admin.yaml:4 is missing: the environment variable NONE is not set',
  )
  expect(await failure({ at, form: 'env', variable: 'EMPTY' })).toBe(
    'SECRET_MISSING: the secret at testops-admin.yaml:4 is missing: the environment variable EMPTY is empty',
  )
  expect(await failure({ at, form: 'file', path: join(folder, 'none') })).toBe(
    'SECRET_MISSING: cannot read the secret file FOLDER/none (testops-admin.yaml:4): there is no such file',
  )
  expect(await failure({ at, form: 'file', path: join(folder, 'empty') })).toBe(
    'SECRET_MISSING: the secret at testops-admin.yaml:4 is missing: the file FOLDER/empty is empty',
  )
  expect(await failure({ at, form: 'file', path: folder })).toBe(
    'SECRET_MISSING: cannot read the secret file FOLDER (testops-admin.yaml:4): it is a directory',
  )
  expect(await failure({ at, form: 'command', command: ['sh', '-c', 'echo half-a-secret; echo no key >&2; exit 2'] })).toBe(
    'SECRET_MISSING: the secret at testops-admin.yaml:4 is missing: the command `sh -c echo half-a-secret; echo no key >&2; exit 2` ended with 2: no key',
  )
  expect(await failure({ at, form: 'command', command: ['no-such-program'] })).toBe(
    'UNAVAILABLE: no-such-program is not installed on this machine (the secret at testops-admin.yaml:4)',
  )
  expect(await failure({ at, form: 'kubernetesSecret', name: 'testops/dbPass' })).toBe(
    'UNAVAILABLE: the secret `testops/dbPass` at testops-admin.yaml:4 lies in a cluster, which this version does not read',
  )
})

test('a certificate file must hold one', async () => {
  const folder = await folderWith({ 'ca.pem': '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n', 'key.pem': 'x' })
  expect(await readCertificates({ path: join(folder, 'ca.pem'), at })).toContain('BEGIN CERTIFICATE')
  expect((await errorOf(readCertificates({ path: join(folder, 'key.pem'), at }))).replace(folder, 'FOLDER')).toBe(
    'CONFIGURATION: the file FOLDER/key.pem (testops-admin.yaml:4) holds no certificate in PEM form',
  )
  expect((await errorOf(readCertificates({ path: join(folder, 'none'), at }))).replace(folder, 'FOLDER')).toBe(
    'CONFIGURATION: cannot read the certificate file FOLDER/none (testops-admin.yaml:4): there is no such file',
  )
})
