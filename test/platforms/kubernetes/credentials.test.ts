import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findAccess } from '../../../src/platforms/kubernetes/access.ts'
import { credentialsOf } from '../../../src/platforms/kubernetes/credentials.ts'
import { passingFolder } from '../../support/passing-folder.ts'
import { told } from './cluster.ts'

async function fileWith(text: string): Promise<string> {
  const file = join(await passingFolder(), 'config')
  await writeFile(file, text)
  return file
}

const config = (user: string, { cluster = 'server: https://api.example.org:6443' } = {}): string => `apiVersion: v1
kind: Config
current-context: prod
clusters:
- {name: main, cluster: {${cluster}}}
contexts:
- {name: prod, context: {cluster: main, user: me}}
users:
- name: me
  user: ${user}
`

const options = { timeoutMs: 2000, environment: { PATH: process.env['PATH'] } }

/** What goes with a request of that user. */
async function sent(user: string, shape = {}): Promise<Record<string, unknown>> {
  const access = await findAccess({ context: null }, { KUBECONFIG: await fileWith(config(user, shape)) })
  return { ...(await credentialsOf(access).current(options)) }
}

describe('a user signs in', () => {
  it('with a token, a password, as another, over TLS with an authority and a certificate of its own', async () => {
    const pem = (text: string): string => Buffer.from(text).toString('base64')
    expect(await sent('{token: t}')).toEqual({ headers: { Authorization: 'Bearer t' } })
    expect(await sent('{username: u, password: p, as: other}')).toMatchObject({
      auth: 'u:p',
      headers: { 'Impersonate-User': 'other' },
    })
    const tls = { cluster: `server: "https://api", certificate-authority-data: ${pem('CA')}, tls-server-name: name` }
    expect(await sent(`{client-certificate-data: ${pem('CERT')}, client-key-data: ${pem('KEY')}}`, tls)).toEqual({
      headers: {},
      ca: Buffer.from('CA'),
      cert: Buffer.from('CERT'),
      key: Buffer.from('KEY'),
      servername: 'name',
    })
    expect(await sent('{}', { cluster: 'server: "https://api", insecure-skip-tls-verify: true' })).toMatchObject({
      rejectUnauthorized: false,
    })
  })

  it('as the service account of a pod', async () => {
    const account = await passingFolder()
    for (const [name, text] of [
      ['token', 'pod-token'],
      ['ca.crt', 'PEM'],
      ['namespace', 'testops'],
    ] as const)
      await writeFile(join(account, name), text)
    const access = await findAccess({ context: null }, { HOME: account, KUBERNETES_SERVICE_HOST: '10.0.0.1' }, account)
    expect(await credentialsOf(access).current(options)).toMatchObject({
      headers: { Authorization: 'Bearer pod-token' },
      ca: Buffer.from('PEM'),
    })
  })

  it.each(['{token: "a\\nb"}', '{token: "tök€n"}', '{token: t, as: "имя"}'])(
    'not by %s, which no request can carry',
    async (user) => {
      expect(await told(sent(user))).toMatchObject({
        code: 'UNAUTHENTICATED',
        message:
          "the user `me` of FOLDER/config cannot sign in: the user's token or name contains an invalid " +
          'character, such as a line break',
      })
    },
  )

  it('with a file that is missing', async () => {
    expect(await told(sent('{client-certificate: gone.pem, client-key: gone.pem}'))).toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringMatching(
        /^the credentials of the user `me` of FOLDER\/config cannot be read: ENOENT/,
      ) as string,
    })
  })
})
