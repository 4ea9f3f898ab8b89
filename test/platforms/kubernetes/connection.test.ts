import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { recordedCluster } from '../../kubernetes/cluster.ts'
import { startApiServer } from '../../kubernetes/server.ts'
import type { ApiServer } from '../../kubernetes/server.ts'
import { folderWith } from '../../runtime/folder.ts'
import { clientFor, told } from './cluster.ts'

const ask = { resource: 'deployments', namespace: 'testops', name: 'testops-testops' } as const
const tlsFolder = join(import.meta.dirname, '../../fixtures/tls')
const textOf = (name: string): Promise<string> => readFile(join(tlsFolder, name), 'utf8')

async function start(tls = false): Promise<ApiServer> {
  const server = await startApiServer(
    recordedCluster(),
    tls ? { cert: await textOf('localhost.pem'), key: await textOf('localhost-key.pem') } : null,
  )
  onTestFinished(async () => server.close())
  return server
}

/** A client by a kubeconfig of one context, whose cluster and user are given as YAML. */
async function client(cluster: string, user = '{token: test-token}') {
  const folder = await folderWith({ token: 'test-token\n', authority: await textOf('authority.pem') })
  const file = join(folder, 'config')
  await writeFile(
    file,
    `current-context: test\nclusters: [{name: c, cluster: {${cluster}}}]\ncontexts: [{name: test, context: ` +
      `{cluster: c, user: me}}]\nusers: [{name: me, user: ${user}}]\n`,
  )
  return clientFor({ KUBECONFIG: file })
}

describe('encryption', () => {
  it('is verified by the authority of the kubeconfig, and by the name that it gives', async () => {
    const { url } = await start(true)
    const named = `server: "${url}", tls-server-name: localhost`
    const found = (it: { metadata: { name: string } }): string => it.metadata.name
    expect(found(await (await client(`${named}, certificate-authority: authority`)).get(ask))).toBe('testops-testops')
    const data = await textOf('authority.pem').then((it) => Buffer.from(it).toString('base64'))
    expect(found(await (await client(`${named}, certificate-authority-data: ${data}`)).get(ask))).toBe(
      'testops-testops',
    )
    expect(found(await (await client(`server: "${url}", insecure-skip-tls-verify: true`)).get(ask))).toBe(
      'testops-testops',
    )
    expect((await told((await client(named)).get(ask))).message).toMatch(
      /^the certificate of Kubernetes at https:\/\/SERVER is not trusted: /,
    )
    expect((await told((await client(`server: "${url}", certificate-authority: authority`)).get(ask))).message).toBe(
      'the certificate of Kubernetes at https://SERVER is not for 127.0.0.1, but for localhost: use that ' +
        'name in the address',
    )
  })
})

it('a certificate of its own that is none is told as such', async () => {
  const { url } = await start(true)
  const none = Buffer.from('none').toString('base64')
  const asked = (
    await client(
      `server: "${url}", insecure-skip-tls-verify: true`,
      `{client-certificate-data: ${none}, client-key-data: ${none}}`,
    )
  ).get(ask)
  const { code, message } = await told(asked)
  expect([code, message.replace(/: error.*/, '')]).toEqual([
    'CONFIGURATION',
    'the certificate or key for https://SERVER in FOLDER/config cannot be used',
  ])
})

describe('who asks is shown', () => {
  const jwt = (exp: number): string =>
    [{ alg: 'none' }, { exp }].map((it) => Buffer.from(JSON.stringify(it)).toString('base64url')).join('.') + '.x'
  const valid = jwt(4_000_000_000)

  it.each([
    ['a token', '{token: abc}', { authorization: 'Bearer abc' }],
    ['a token in a file', '{tokenFile: token}', { authorization: 'Bearer test-token' }],
    ['a name and a password', '{username: me, password: pass}', { authorization: 'Basic bWU6cGFzcw==' }],
    ['as another', '{token: abc, as: admin}', { authorization: 'Bearer abc', 'impersonate-user': 'admin' }],
    [
      'OpenID Connect',
      `{auth-provider: {name: oidc, config: {id-token: ${valid}}}}`,
      { authorization: `Bearer ${valid}` },
    ],
    ['nobody', '{}', {}],
  ])('by %s', async (_, user, expected) => {
    const server = await start()
    const seen: Record<string, unknown> = {}
    server.instead = ({ headers }) => {
      for (const name of ['authorization', 'impersonate-user'])
        if (headers[name] !== undefined) seen[name] = headers[name]
      return false
    }
    await (await client(`server: "${server.url}"`, user)).get(ask).catch(() => null)
    expect(seen).toEqual(expected)
  })

  it('by a provider that nobody knows, which is told', async () => {
    const { url } = await start()
    const { code, message } = await told((await client(`server: "${url}"`, '{auth-provider: {name: other}}')).get(ask))
    expect([code, message]).toEqual([
      'UNAUTHENTICATED',
      'the user `me` of FOLDER/config cannot sign in with its auth-provider `other`: it returned no token',
    ])
  })
})

describe('a proxy that the kubeconfig names', () => {
  it('is gone through', async () => {
    const { url } = await start(true)
    const through: string[] = []
    const proxy = createServer().on('connect', ({ url: target = '' }, socket) => {
      through.push(target)
      const [host, port] = target.split(':')
      const onward = connect({ host: host ?? '', port: Number(port) }, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        onward.pipe(socket).pipe(onward)
      })
      for (const it of [onward, socket]) it.on('error', () => undefined)
    })
    proxy.listen(0, '127.0.0.1')
    await new Promise((resolve) => proxy.once('listening', resolve))
    onTestFinished(() => void proxy.close())
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    await (await client(`server: "${url}", insecure-skip-tls-verify: true, proxy-url: "${address}"`)).get(ask)
    expect(through).toEqual([new URL(url).host])
  })

  it('is named where it is in the way', async () => {
    const { url } = await start()
    const { message } = await told((await client(`server: "${url}", proxy-url: "http://127.0.0.1:1"`)).get(ask))
    expect(message).toBe(
      'Kubernetes at http://SERVER through the proxy SERVER refused the connection: nothing listens on SERVER',
    )
  })
})
