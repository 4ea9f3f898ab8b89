import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError } from '../../../src/core/error.ts'
import { clusterAt, findAccess } from '../../../src/platforms/kubernetes/access.ts'
import { openConnection } from '../../../src/platforms/kubernetes/connection.ts'
import { credentialsOf } from '../../../src/platforms/kubernetes/credentials.ts'
import { readKubeconfig } from '../../../src/platforms/kubernetes/kubeconfig-file.ts'
import type { Reader } from '../reader.ts'
import { refusable } from './refusable.ts'

const usual = `apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: prod
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority-data: LS0tLS1CRUdJTi
    tls-server-name: api
    proxy-url: http://proxy:3128
contexts:
- name: prod
  context: {cluster: prod, user: op, namespace: testops}
- name: other
  context: {cluster: prod, user: plain}
users:
- name: op
  user:
    token: abc
- name: plain
  user: {username: u, password: p}
`
const files = `current-context: a
clusters: [{name: a, cluster: {server: "http://127.0.0.1:8080", insecure-skip-tls-verify: true}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users: [{name: a, user: {tokenFile: token, client-certificate-data: aGk=, client-key-data: aGk=}}]
`

/** A configuration of kubectl, up to where the first request would be sent. */
export const kubeconfig: Reader = {
  name: 'kubeconfig',
  syntax: 'yaml',
  seeds: [
    usual,
    files,
    JSON.stringify({
      'current-context': 'a',
      clusters: [{ name: 'a', cluster: { server: 'https://h' } }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      users: [{ name: 'a', user: { 'auth-provider': { name: 'oidc', config: { 'id-token': 'a.b.c' } } } }],
    }),
  ],
  async open(folder) {
    const file = join(folder, 'config')
    await writeFile(join(folder, 'token'), 'abc\n')
    const environment = { KUBECONFIG: file, HOME: folder }
    return {
      async read(input) {
        await writeFile(file, input)
        await readKubeconfig(file)
        await refusable(async () => clusterAt({ context: null, namespace: null } as never, { environment }))
        const access = await findAccess({ context: null }, environment)
        // no program of such a file is run here
        if (access.user?.exec !== undefined) throw new AdminError('UNAUTHENTICATED', 'a program would be run')
        const options = { timeoutMs: 1000, environment }
        await refusable(async () => (await openConnection(access, { suggestions: [] })).close())
        await credentialsOf(access).current(options)
      },
    }
  },
}
