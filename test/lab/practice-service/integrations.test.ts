import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { unknownHosts } from '../../../src/knowledge/log-signatures.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { deployment, onEnd, sql, startService, until } from './support/deployment.ts'
import type { Deployment } from './support/deployment.ts'

/** An external system that answers with one status, and keeps what it was asked. */
async function externalSystem(status: number): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization ?? '')
    response.writeHead(status).end('x')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onEnd(() => new Promise((resolve) => server.close(resolve)))
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, asked }
}

/** A service that has run once, with these integrations. */
async function withIntegrations(rows: Record<string, string>): Promise<Deployment> {
  const on = await deployment()
  await (await startService(on.settings)).stop()
  for (const [name, url] of Object.entries(rows)) {
    await on.database.query(
      "INSERT INTO integration (name, url, username, password) VALUES ($1, $2, 'bob', 'hunter2')",
      [name, url],
    )
  }
  return on
}

test('a name that does not resolve is told with its stack, again and again', async () => {
  const on = await withIntegrations({ jira: 'http://bob:s3cret@jira.practice.invalid:8080/rest?token=abc' })
  const service = await startService(on.settings, { integrationIntervalMs: 100 })
  await until('two calls', () => service.log().split("Can't connect to integration 'jira'").length > 2)
  expect(service.log()).toMatch(
    /ERROR \d+ --- \[ {3}scheduling-1\] v\.p\.i\.IntegrationConnectionService +: Can't connect/,
  )
  expect(service.log()).toContain(
    ": Can't connect to integration 'jira'\n\njava.net.UnknownHostException: jira.practice.invalid\n\tat java.base/",
  )
  expect(unknownHosts(service.log())).toEqual(['jira.practice.invalid'])
  expect(service.log()).not.toContain('HTTP FAILED')
  expect(service.log()).not.toMatch(/s3cret|hunter2|token=/)
})

test('with the logger at debug the exchange is told, and never a password', async () => {
  const port = await freePort()
  const good = await externalSystem(200)
  const on = await withIntegrations({
    jira: 'http://bob:s3cret@jira.practice.invalid/rest?token=abc',
    gone: `http://127.0.0.1:${port}/api`,
    good: `${good.url}/status`,
  })
  const service = await startService({ ...on.settings, LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION: 'debug' })
  await until('the calls', () => (service.log().match(/<-- /g) ?? []).length === 3)
  const told = service.log()
  expect(told).toMatch(/DEBUG \d+ --- .* : --> GET http:\/\/jira\.practice\.invalid\/rest\n/)
  expect(told).toContain(': <-- HTTP FAILED: java.net.UnknownHostException: jira.practice.invalid\n')
  expect(told).toContain(`: <-- HTTP FAILED: java.net.ConnectException: Failed to connect to 127.0.0.1:${port}\n`)
  expect(told).toMatch(/: <-- 200 OK http:\/\/127\.0\.0\.1:\d+\/status \(\d+ms, unknown-length body\)\n/)
  expect(told).not.toMatch(/s3cret|hunter2|token=/)
  expect(good.asked).toEqual([`Basic ${Buffer.from('bob:hunter2').toString('base64')}`])
})

test('refusals of the external system are told', async () => {
  const [bad, forbidden] = [await externalSystem(400), await externalSystem(401)]
  const on = await withIntegrations({ bad: bad.url, forbidden: forbidden.url })
  const service = await startService(on.settings)
  await until('both', () => (service.log().match(/ answered /g) ?? []).length === 2)
  expect(service.log()).toContain(`Integration 'bad' answered 400 Bad Request to GET ${bad.url}`)
  expect(service.log()).toContain(`Integration 'forbidden' answered 401 Unauthorized to GET ${forbidden.url}`)
})

test('an integration that works, or is taken away, leaves no line', async () => {
  const good = await externalSystem(200)
  const on = await withIntegrations({ good: good.url, jira: 'nonsense' })
  const service = await startService(on.settings, { integrationIntervalMs: 50 })
  await until('a call', () =>
    service.log().includes("java.lang.IllegalArgumentException: Expected URL scheme 'http' or 'https'"),
  )
  await sql(on, "DELETE FROM integration WHERE name = 'jira'")
  const calls = good.asked.length
  await until('more calls', () => good.asked.length > calls + 3)
  const before = service.log()
  await until('more calls', () => good.asked.length > calls + 8)
  expect(service.log()).toBe(before)
})
