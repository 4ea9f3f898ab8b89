import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import { findDeployment, openDeployment } from '../../src/runtime/index.ts'
import type { OpenedDeployment } from '../../src/runtime/index.ts'
import { apiToken, service as apiService } from '../adapters/service.ts'
import { migrationCall } from '../fakes/index.ts'
import { errorOf } from './error-of.ts'
import { folderWith } from './folder.ts'

async function errorThrown(work: () => Promise<unknown>): Promise<AdminError> {
  const error: unknown = await work().catch((thrown: unknown) => thrown)
  if (error instanceof AdminError) return error
  throw error
}

async function open(
  lines: string,
  files: Readonly<Record<string, string>> = {},
  environment: Record<string, string> = {},
): Promise<OpenedDeployment> {
  const workingDirectory = await folderWith({
    ...files,
    'testops-admin.yaml': `deployments:\n  prod:\n${lines.replace(/^/gm, '    ')}\n`,
  })
  const opened = await openDeployment(await findDeployment({ environment, workingDirectory }), {
    timeoutMs: 2000,
    environment,
  })
  onTestFinished(opened.close)
  return opened
}

const service = {
  'service.env': [
    'ACME_JWT_ACCESS_TOKEN_VALIDITY_SECONDS=3600',
    'ACME_RABBIT_DURABLE=true',
    'LOGGING_LEVEL_ORG_ACME_INTEGRATION=info',
    'TZ=Asia/Tokyo',
    'LOGGING_FILE_NAME=service.log',
  ].join('\n'),
  'service.log': '2026-11-20 12:00:00.000  INFO 1 --- [main] app : started\nand more\n',
}

test('what the configuration leaves out is taken from the service', async () => {
  const {
    deployment,
    open: sources,
    commands,
  } = await open('host: {environmentFile: service.env, logs: {file: service.log}}', service)
  expect(deployment).toEqual({
    name: 'prod',
    platform: 'host',
    editable: { configuration: expect.stringMatching(/testops-admin\.yaml$/) as string, secrets: {} },
    vendor: { prefix: 'ACME', package: 'ORG_ACME' },
    timeZone: 'Asia/Tokyo',
    isTimeZoneAssumed: true,
  })
  expect(commands?.settings).toMatch(/service\.env$/)
  const log = await (await sources.logs()).recent({ maxBytes: 1000 })
  expect(log.records).toEqual([
    {
      at: new Date('2026-11-20T03:00:00Z'),
      level: 'INFO',
      text: '2026-11-20 12:00:00.000  INFO 1 --- [main] app : started\nand more',
    },
  ])
  expect(await errorOf(sources.database())).toBe(
    "NOT_CONFIGURED: no database is configured for `prod`: set `database.url` (the service's settings do not " +
      'contain this address)',
  )
  expect(await (await sources.network()).resolve('localhost')).toBe(true)
})

test('the access log is read where the configuration says, and no other', async () => {
  const line = '10.0.0.5 - - [21/Nov/2026:03:04:05 +0100] "GET / HTTP/1.1" 413 5'
  const { open: sources } = await open('url: https://testops.example.org\naccessLog: {file: logs/access.log}', {
    'logs/access.log': `${line}\n`,
  })
  const log = await sources.accessLog()
  expect(log.target).toMatch(/^\/.*\/logs\/access\.log$/)
  expect((await log.recent({ maxBytes: 1000 })).requests).toMatchObject([{ path: '/', status: 413 }])
  const without = await open('url: https://testops.example.org')
  expect(await errorOf(without.open.accessLog())).toBe(
    'NOT_CONFIGURED: no access log is configured for `prod`: set `accessLog.file`',
  )
})

test('the configuration stands above the service', async () => {
  const lines = 'host: {environmentFile: service.env}\nvendor: {prefix: OTHER}\ntimeZone: UTC'
  expect((await open(lines, service)).deployment).toMatchObject({
    vendor: { prefix: 'OTHER', package: 'ORG_ACME' },
    timeZone: 'UTC',
  })
})

test(
  'an option of the JVM stands above TZ, also where others beside it make it a secret; the configuration stands ' +
    'above both, and is sure',
  async () => {
    const told = {
      'service.env': 'TZ=UTC\nJAVA_TOOL_OPTIONS=-Dproxy=http://me:secret@proxy/ -Duser.timezone=America/New_York\n',
    }
    const zoneOf = async (lines: string): Promise<object> => {
      const { timeZone, isTimeZoneAssumed } = (await open(lines, told)).deployment
      return { timeZone, isTimeZoneAssumed }
    }
    expect(await zoneOf('host: {environmentFile: service.env}')).toEqual({
      timeZone: 'America/New_York',
      isTimeZoneAssumed: true,
    })
    expect(await zoneOf('host: {environmentFile: service.env}\ntimeZone: UTC')).toEqual({
      timeZone: 'UTC',
      isTimeZoneAssumed: undefined,
    })
  },
)

test('a service that says nothing of its vendor', async () => {
  const opened = await open('host: {environmentFile: service.env}', { 'service.env': 'TZ=MSK-3\n' })
  expect(opened.deployment).toMatchObject({ vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' }, timeZone: null })
})

test('a configured deployment on a platform that cannot be asked', async () => {
  const {
    deployment,
    open: sources,
    commands,
  } = await open('url: http://127.0.0.1:1\ncompose: {service: testops}', {}, { PATH: '/nowhere' })
  expect(deployment.platform).toBe('compose')
  expect(commands).toBeNull()
  const reason = 'UNAVAILABLE: neither docker nor podman is installed on this machine'
  expect(await errorOf(sources.service())).toBe(reason)
  expect(await errorOf(sources.logs())).toBe(reason)
  expect(await errorOf(sources.sessions())).toBe(reason)
})

test.each([
  ['platform: kubernetes', 'set `url`, `database`, `broker` or `sessions` in the configuration'],
  ['compose: {service: testops}', 'set `url`, `database`, `broker` or `sessions` in the configuration'],
  ['build: "1"', 'set `url`, `database`, `broker`, `sessions` or `host.environmentFile` in the configuration'],
])('with %s, what may be configured instead is named', async (text, expected) => {
  const suggestions = await open(text, {}, { PATH: '/nowhere', HOME: '/nowhere' }).then(
    () => [],
    (error: AdminError) => error.suggestions,
  )
  expect(suggestions.at(-1)).toBe(expected)
})

test.each([
  [
    'kubernetes: {namespace: testops}',
    'UNAVAILABLE: cannot tell how to reach deployment `prod`: no cluster is known: kubectl has no ' +
      'configuration in FOLDER/.kube/config, and testops-admin does not run in a pod',
  ],
  [
    'build: "1"',
    "CONFIGURATION: cannot tell how to reach deployment `prod`: the service's settings are unknown: set " +
      '`host.environmentFile`',
  ],
  [
    'host: {environmentFile: none.env}',
    "UNAVAILABLE: cannot tell how to reach deployment `prod`: the service's settings in FOLDER/none.env " +
      '(`host.environmentFile` at FOLDER/testops-admin.yaml:3) cannot be read: the file is missing',
  ],
  [
    'host: {environmentFile: none.env}\ncompose: {service: testops}',
    'CONFIGURATION: deployment `prod` in FOLDER/testops-admin.yaml has the sections host and compose: choose ' +
      'one with `platform`',
  ],
  [
    'url: http://127.0.0.1:1\nbroker: {password: {command: ["false"]}}\ndatabase: {password: {command: [sh, ' +
      '-c, "echo Vault is sealed >&2; exit 3"]}}',
    "SECRET_MISSING: the secret at FOLDER/testops-admin.yaml:5 is missing: the command `sh -c 'echo Vault is " +
      "sealed >&2; exit 3'` exited with 3: Vault is sealed",
  ],
  [
    'url: http://127.0.0.1:1\nca: none.pem',
    'CONFIGURATION: the certificate file FOLDER/none.pem (FOLDER/testops-admin.yaml:4) cannot be used: the ' +
      'file is missing',
  ],
  [
    'url: http://127.0.0.1:1\napiToken: {env: FOREIGN}',
    'SECRET_MISSING: the secret at FOLDER/testops-admin.yaml:4 cannot be used: the environment variable ' +
      'FOREIGN contains whitespace or a non-ASCII character, which an API token never contains',
  ],
  [
    'url: http://127.0.0.1:1\napiToken: {command: [echo, "Bearer abc"]}',
    "SECRET_MISSING: the secret at FOLDER/testops-admin.yaml:4 cannot be used: the command `echo 'Bearer " +
      "[secret]'` begins with a word from an HTTP header: enter only the token itself",
  ],
  [
    'url: http://127.0.0.1:1\napiToken: {env: NONE}',
    'SECRET_MISSING: the secret at FOLDER/testops-admin.yaml:4 is missing: the environment variable NONE is not set',
  ],
])('%j', async (lines, message) => {
  const folder = await folderWith({
    'testops-admin.yaml': `deployments:\n  prod:\n${lines.replace(/^/gm, '    ')}\n`,
    'elsewhere/x': '',
  })
  const selected = await findDeployment({
    file: join(folder, 'testops-admin.yaml'),
    environment: {},
    workingDirectory: join(folder, 'elsewhere'),
  })
  expect(
    (
      await errorOf(openDeployment(selected, { timeoutMs: 2000, environment: { FOREIGN: 'ключ', HOME: folder } }))
    ).replaceAll(folder, 'FOLDER'),
  ).toBe(message)
})

test(
  'a settings file that cannot be read is why what it would have told is not known, ' + 'and does no other harm',
  async () => {
    const { deployment, open: sources } = await open('url: http://127.0.0.1:1\nhost: {environmentFile: none.env}')
    expect(deployment.vendor.prefix).toBe('VENDOR')
    const errors = await Promise.all([sources.database, sources.broker, sources.sessions].map(errorThrown))
    for (const { code, message, suggestions, obstacle } of errors) {
      expect({ code, obstacle }).toEqual({ code: 'UNAVAILABLE', obstacle: { kind: 'settings' } })
      expect(message).toMatch(
        new RegExp(
          String.raw`^the service's settings in \S+\/none\.env ` +
            '\\(`host\\.environmentFile` at testops-admin\\.yaml:4\\) cannot be read: the file is missing$',
        ),
      )
      expect(suggestions[1]).toBe('correct `host.environmentFile` at testops-admin.yaml:4')
    }
    expect(await errorOf(sources.api())).toMatch(/^UNREACHABLE: the service at /)
  },
)

test('a settings file that comes later is read then', async () => {
  const folder = await folderWith({})
  const file = join(folder, 'late.env')
  const { open: sources } = await open(`url: http://127.0.0.1:1\nhost: {environmentFile: ${file}}`)
  expect(await errorOf(sources.sessions())).toMatch(/^UNAVAILABLE: /)
  await writeFile(file, 'SPRING_DATA_REDIS_HOST=127.0.0.1\nSPRING_DATA_REDIS_PORT=1\n')
  expect(await errorOf(sources.sessions())).toMatch(/^UNREACHABLE: Redis at 127\.0\.0\.1:1\/0 refused the connection/)
})

test('commands are meant from the folder of the configuration', async () => {
  const files = { 'bin/status': '#!/bin/sh\nexit 3\n' }
  const opened = await open(
    'url: http://127.0.0.1:1\nhost: {commands: {start: ["true"], stop: ["true"], status: [bin/status]}}',
    files,
  )
  expect((await (await opened.open.service()).status()).state).toBe('stopped')
})

test('a database that accepts connections and never answers is given up in time', async () => {
  const held = new Set<{ destroy: () => void }>()
  const server = createServer((socket) => held.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of held) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const opened = await open(
    `database: {url: "postgresql://u@127.0.0.1:${port}/d", password: {env: PW}}`,
    {},
    { PW: 'x' },
  )
  const started = performance.now()
  expect(await errorOf(opened.open.database())).toMatch(/^TIMED_OUT: /)
  expect(performance.now() - started).toBeLessThan(4000)
  await opened.close()
})

test('whatever calls the API has the same Bearer token, exchanged once', async () => {
  const { url, received } = await apiService()
  const opened = await open(`url: ${url}\napiToken: {env: TOKEN}`, {}, { TOKEN: apiToken })
  const control = await opened.control.api()
  const [user, answer, { token, expiresInSeconds }] = await Promise.all([
    opened.open.api().then(async (api) => api.currentUser()),
    control.migrateTrees({ project: 1, tree: null }, migrationCall()),
    opened.login().then(async (login) => login.bearer()),
  ])
  expect([user['username'], answer]).toEqual(['admin', { status: 'accepted' }])
  expect(expiresInSeconds).toBeGreaterThan(3000)
  expect(received.filter(({ path }) => path === '/api/uaa/oauth/token').length).toBe(1)
  const used = received.flatMap(({ headers }) => headers.authorization ?? [])
  expect(new Set(used)).toEqual(new Set([`Bearer ${token.reveal()}`]))
})

test(
  'a setting that is written leads to the server that it names, ' + 'and leaves a connection to the others as it is',
  async () => {
    const [former, later] = [await apiService({ health: 'DOWN' }), await apiService()]
    const { open: sources, control } = await open(
      'host: {environmentFile: service.env, commands: {start: ["true"], stop: ["true"], status: ["true"]}}',
      {
        'service.env': `ACME_ENDPOINT=${former.url}\nACME_RABBIT_DURABLE=false\n`,
      },
    )
    const health = async (): Promise<string | null> => (await (await sources.api()).health()).status
    const before = await sources.api()
    const service = await control.service()
    await service.writeSetting({ name: 'ACME_RABBIT_DURABLE', from: 'false', to: 'true' })
    expect([await health(), (await sources.api()) === before]).toEqual(['DOWN', true])
    await service.writeSetting({ name: 'ACME_ENDPOINT', from: former.url, to: later.url })
    expect([await health(), later.received.length > 0]).toEqual(['UP', true])
    await service.writeSetting({ name: 'ACME_ENDPOINT', from: later.url, to: former.url })
    expect(await sources.api()).toBe(before)
  },
)
