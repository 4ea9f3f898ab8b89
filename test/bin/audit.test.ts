import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'

const project = fileURLToPath(new URL('../../', import.meta.url))

interface Audited {
  exitCode: number | null
  stdout: string
  stderr: string
}

/** `npm run audit`, which asks for what is shipped. */
const audit = async (...more: string[]): Promise<Audited> =>
  new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', 'audit', '--', '--json', '--fetch-retries=0', ...more], {
      cwd: project,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const texts = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text))
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ ...texts, exitCode }))
  })

/** A registry that knows of these faults, and keeps what it was asked for: versions by name. */
async function registry(
  advisories: Readonly<Record<string, { severity: string; vulnerable_versions: string }>>,
): Promise<{ flags: string[]; asked: Record<string, string[]> }> {
  const asked: Record<string, string[]> = {}
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      if (request.method === 'POST' && request.url === '/-/npm/v1/security/advisories/bulk') {
        Object.assign(
          asked,
          JSON.parse((request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString()),
        )
        const known = Object.entries(advisories).map(([name, it]) => [
          name,
          [
            {
              id: 1,
              url: 'https://example.org/1',
              title: 'a fault',
              cwe: [],
              cvss: { score: 9, vectorString: null },
              ...it,
            },
          ],
        ])
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(Object.fromEntries(known)))
      } else {
        response.statusCode = 404
        response.end('{}')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  // npm keeps what it was told
  const cache = mkdtempSync(join(tmpdir(), 'testops-admin-audit-'))
  onTestFinished(() => rmSync(cache, { recursive: true, force: true }))
  return {
    flags: [`--registry=http://127.0.0.1:${(server.address() as AddressInfo).port}/`, `--cache=${cache}`],
    asked,
  }
}

test('each package of the bundle is asked for', { timeout: 120_000 }, async () => {
  const { flags, asked } = await registry({})
  const { exitCode, stdout } = await audit(...flags)
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining('"vulnerabilities": {}') as string])
  // as it was built last; esbuild adds texts of its own alone
  const { components } = JSON.parse(readFileSync(`${project}/dist/sbom.cdx.json`, 'utf8')) as {
    components: { 'bom-ref': string }[]
  }
  const bundled = components.map((it) => it['bom-ref']).filter((id) => !id.startsWith('esbuild@'))
  const ids = Object.entries(asked).flatMap(([name, versions]) => versions.map((version) => `${name}@${version}`))
  expect(bundled.filter((id) => !ids.includes(id))).toEqual([])
  expect(Object.keys(asked).filter((name) => ['testcontainers', 'vitest', 'eslint'].includes(name))).toEqual([])
})

test.each<[severity: string, name: string, code: number]>([
  ['high', 'pg', 1],
  ['critical', 'socks', 1],
  ['moderate', 'pg', 0],
  ['critical', 'testcontainers', 0],
])('a fault that is %s in %s ends with %d', { timeout: 120_000 }, async (severity, name, code) => {
  const { flags } = await registry({ [name]: { severity, vulnerable_versions: '*' } })
  expect((await audit(...flags)).exitCode).toBe(code)
})

test('what is shipped has no fault of high severity, as far as the registry answers', {
  timeout: 180_000,
}, async () => {
  const { exitCode, stdout } = await audit()
  const answer = JSON.parse(stdout) as {
    vulnerabilities?: object
    metadata?: { vulnerabilities: { high: number; critical: number } }
    message?: string
    error?: object
  }
  if (answer.metadata) {
    expect([answer.metadata.vulnerabilities, exitCode]).toEqual([expect.objectContaining({ high: 0, critical: 0 }), 0])
    return
  }
  // no network, or a mirror that has packages alone; what is asked, and what follows from an answer, is shown above
  process.stderr.write(
    'audit: the registry here answers no audits, so that nothing is known of faults in what is shipped\n',
  )
  expect([exitCode, answer.message]).toEqual([
    1,
    expect.stringMatching(/security\/advisories\/bulk|security\/audits/) as string,
  ])
})
