import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const tlsFile = (name: string): string => join(import.meta.dirname, '../fixtures/tls', name)

/** For an API server over TLS, without which kubectl shows nobody its credentials. */
export function testCertificate(): { cert: string; key: string } {
  return {
    cert: readFileSync(tlsFile('localhost.pem'), 'utf8'),
    key: readFileSync(tlsFile('localhost-key.pem'), 'utf8'),
  }
}

/** A file for kubectl in that folder: one context that leads to the server at `url`. */
export async function kubeconfigIn(folder: string, url: string): Promise<string> {
  const file = join(folder, 'config')
  await writeFile(file, kubeconfigText(url), { mode: 0o600 })
  return file
}

function kubeconfigText(url: string): string {
  const authority = url.startsWith('https:')
    ? `, certificate-authority: "${tlsFile('authority.pem')}", tls-server-name: localhost`
    : ''
  return `apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster: {server: "${url}"${authority}}
contexts:
- name: test
  context: {cluster: test, user: test-user, namespace: testops}
users:
- name: test-user
  user: {token: test-token}
`
}
