import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { passingFolder } from '../support/passing-folder.ts'

const tlsFile = (name: string): string => join(import.meta.dirname, '../fixtures/tls', name)

/** For an API server over TLS, without which kubectl shows nobody its credentials. */
export function testCertificate(): { cert: string; key: string } {
  return { cert: readFileSync(tlsFile('localhost.pem'), 'utf8'), key: readFileSync(tlsFile('localhost-key.pem'), 'utf8') }
}

/** A file for kubectl, in a folder of its own: one context that leads to the server at `url`. */
export async function kubeconfigFor(url: string, { context = 'test', namespace = 'testops', token = 'test-token' } = {}): Promise<string> {
  const file = join(await passingFolder(), 'config')
  await writeFile(file, kubeconfigText(url, { context, namespace, token }), { mode: 0o600 })
  return file
}

function kubeconfigText(url: string, { context = 'test', namespace = 'testops', token = 'test-token' } = {}): string {
  return `apiVersion: v1
kind: Config
current-context: ${context}
clusters:
- name: ${context}
  cluster: {server: "${url}"${url.startsWith('https:') ? `, certificate-authority: "${tlsFile('authority.pem')}", tls-server-name: localhost` : ''}}
contexts:
- name: ${context}
  context: {cluster: ${context}, user: ${context}-user, namespace: ${namespace}}
users:
- name: ${context}-user
  user: {token: ${token}}
`
}
