import { describe, expect, test } from 'vitest'
import { chartOf, filesOfDeployment } from '../../../src/cli/repair/applied.ts'
import type { AdminError } from '../../../src/core/error.ts'
import { configurationKeys } from '../../../src/runtime/configuration/template.ts'
import { secretReader } from '../../../src/runtime/configuration/secrets.ts'
import { apiEndpoint } from '../../../src/runtime/parts/api.ts'
import { brokerEndpoint } from '../../../src/runtime/endpoints/broker.ts'
import { databaseEndpoints } from '../../../src/runtime/endpoints/database.ts'
import { sessionsEndpoint } from '../../../src/runtime/endpoints/sessions.ts'
import { configuredIntegrations, findDeployment, openDeployment, ownChecks } from '../../../src/runtime/index.ts'
import { platformSettingsOf } from '../../../src/runtime/configuration/platform-of.ts'
import { rabbitmqctlFor } from '../../../src/runtime/parts/broker.ts'
import { folderWith } from '../folder.ts'
import { clear } from '../endpoints/situation.ts'

const ignored = { check: 'api/token-lifetime', reason: 'a', until: '2027-01-31' }
const environment = { A: 'secret-a', B: 'secret-b', HOME: '/nowhere', PATH: '/nowhere' }

/** All that a configuration comes to without a server: what is opened, edited and asked, or why not. */
async function outcome(deployment: object, top: object = {}): Promise<string> {
  const text = JSON.stringify({ ...top, deployments: { prod: deployment, spare: { platform: 'host' } } })
  const folder = await folderWith({
    'testops-admin.yaml': text,
    'a.pem': '-----BEGIN CERTIFICATE-----\na',
    'b.pem': '-----BEGIN CERTIFICATE-----\nb',
    'access.log': '',
    'other.log': '',
  })
  const config = `${folder}/testops-admin.yaml`
  const name = 'current' in top ? undefined : 'prod'
  const selected = await findDeployment({ file: config, name, environment, workingDirectory: folder })
  const secrets = secretReader({ environment, timeoutMs: 1000 })
  const context = {
    name: selected.name,
    settings: selected.settings,
    secrets,
    environment: async () =>
      new Map([
        ['SPRING_DATASOURCE_URL', 'jdbc:postgresql://db/testops'],
        ['SPRING_RABBITMQ_HOST', 'mq'],
        ['SPRING_DATA_REDIS_HOST', 'redis'],
      ]),
  }
  const options = { environment, timeoutMs: 100, signal: new AbortController().signal }
  const opened = openDeployment(selected, options)
  const parts = {
    name: selected.name,
    platform: async () => platformSettingsOf(selected),
    database: async () => databaseEndpoints(context),
    broker: async () => brokerEndpoint(context),
    sessions: async () => sessionsEndpoint(context),
    api: async () => apiEndpoint(context, { prefix: 'VENDOR', package: 'V' }),
    rabbitmqctl: async () =>
      rabbitmqctlFor({ host: 'mq.invalid', port: 5672 }, selected, { environment, timeoutMs: 1000 }, {})(),
    chart: async () => chartOf({}, selected),
    files: async () => ({ ...(await filesOfDeployment({ config, deployment: 'prod' })), selected: null }),
    integrations: async () =>
      Promise.all(
        configuredIntegrations(selected, options).map(async ({ password, ...it }) => ({
          ...it,
          password: password && [password.from, await password.read()],
        })),
      ),
    deployment: async () => (await opened).deployment,
    checks: async () => ownChecks(selected, { ...options, deadlineMs: 100 }).map(({ id, file }) => [id, file]),
    accessLog: async () => (await (await opened).open.accessLog()).target,
  }
  const told = await Promise.all(
    Object.entries(parts).map(async ([part, work]) => [
      part,
      typeof work === 'string' ? work : await work().catch((error: AdminError) => error.message),
    ]),
  )
  await opened.then(
    async ({ close }) => close(),
    () => undefined,
  )
  return JSON.stringify(clear(told)).replaceAll(folder, 'FOLDER')
}

const a = { env: 'A' }
const b = { env: 'B' }
const commands = { start: ['a'], stop: ['a'], status: ['a'] }
const store = { url: 'redis://redis' }
const sentinel = { master: 'a', nodes: ['a:1'], password: a }
const database = { url: 'postgresql://db/a', user: 'a', password: a, ca: 'a.pem' }
const broker = {
  url: 'amqp://mq',
  user: 'a',
  password: a,
  ca: 'a.pem',
  managementUrl: 'http://mq:1',
  rabbitmqctl: ['a'],
}
const kubernetes = {
  context: 'a',
  namespace: 'a',
  release: 'a',
  workload: 'a',
  values: 'a.yaml',
  chart: 'a/a',
  chartVersion: '1',
  valuesPath: 'a',
}
const integration = { name: 'a', url: 'https://a', user: 'a', password: a }

/** Of each key, two configurations that differ in it alone. */
const variants: Readonly<Record<string, [object, object]>> = {
  url: [{ url: 'https://a' }, { url: 'https://b' }],
  apiToken: [
    { url: 'https://a', apiToken: a },
    { url: 'https://a', apiToken: b },
  ],
  ca: [
    { url: 'https://a', ca: 'a.pem' },
    { url: 'https://a', ca: 'b.pem' },
  ],
  platform: [{ platform: 'host' }, { platform: 'kubernetes' }],
  host: [{ host: { unit: 'a' } }, { platform: 'host' }],
  'host.unit': [{ host: { unit: 'a' } }, { host: { unit: 'b' } }],
  'host.commands': [{ host: { commands } }, { host: {} }],
  'host.commands.start': [{ host: { commands } }, { host: { commands: { ...commands, start: ['b'] } } }],
  'host.commands.stop': [{ host: { commands } }, { host: { commands: { ...commands, stop: ['b'] } } }],
  'host.commands.status': [{ host: { commands } }, { host: { commands: { ...commands, status: ['b'] } } }],
  'host.logs': [{ host: { logs: { file: 'a' } } }, { host: {} }],
  'host.logs.file': [{ host: { logs: { file: 'a' } } }, { host: { logs: { file: 'b' } } }],
  'host.logs.command': [{ host: { logs: { command: ['a'] } } }, { host: { logs: { command: ['b'] } } }],
  'host.environmentFile': [{ host: { environmentFile: 'a' } }, { host: { environmentFile: 'b' } }],
  kubernetes: [{ kubernetes }, { platform: 'kubernetes' }],
  ...Object.fromEntries(
    Object.keys(kubernetes).map((key) => [
      `kubernetes.${key}`,
      [{ kubernetes }, { kubernetes: { ...kubernetes, [key]: 'b' } }],
    ]),
  ),
  compose: [{ compose: { project: 'a' } }, { platform: 'compose' }],
  'compose.project': [{ compose: { project: 'a' } }, { compose: { project: 'b' } }],
  'compose.file': [{ compose: { file: 'a' } }, { compose: { file: 'b' } }],
  'compose.service': [{ compose: { file: 'a', service: 'a' } }, { compose: { file: 'a', service: 'b' } }],
  build: [{ build: 'a' }, { build: 'b' }],
  image: [{ image: 'a' }, { image: 'b' }],
  cpuinfo: [{ cpuinfo: 'a' }, { cpuinfo: 'b' }],
  timeZone: [
    { url: 'https://a', timeZone: 'UTC' },
    { url: 'https://a', timeZone: 'Europe/Berlin' },
  ],
  vendor: [{ url: 'https://a', vendor: { prefix: 'A' } }, { url: 'https://a' }],
  'vendor.prefix': [
    { url: 'https://a', vendor: { prefix: 'A' } },
    { url: 'https://a', vendor: { prefix: 'B' } },
  ],
  'vendor.package': [
    { url: 'https://a', vendor: { package: 'a' } },
    { url: 'https://a', vendor: { package: 'b' } },
  ],
  database: [{ database }, { database: [database, { ...database, url: 'postgresql://db/b' }] }],
  'database.url': [{ database }, { database: { ...database, url: 'postgresql://db/b' } }],
  'database.user': [{ database }, { database: { ...database, user: 'b' } }],
  'database.password': [{ database }, { database: { ...database, password: b } }],
  'database.ca': [{ database }, { database: { ...database, ca: 'b.pem' } }],
  broker: [{ broker }, {}],
  'broker.url': [{ broker }, { broker: { ...broker, url: 'amqp://mq-b' } }],
  'broker.managementUrl': [{ broker }, { broker: { ...broker, managementUrl: 'http://mq:2' } }],
  'broker.rabbitmqctl': [{ broker }, { broker: { ...broker, rabbitmqctl: ['b'] } }],
  'broker.user': [{ broker }, { broker: { ...broker, user: 'b' } }],
  'broker.password': [{ broker }, { broker: { ...broker, password: b } }],
  'broker.ca': [{ broker }, { broker: { ...broker, ca: 'b.pem' } }],
  sessions: [{ sessions: store }, {}],
  'sessions.url': [{ sessions: store }, { sessions: { url: 'redis://redis-b' } }],
  'sessions.namespace': [{ sessions: { ...store, namespace: 'a' } }, { sessions: { ...store, namespace: 'b' } }],
  'sessions.user': [
    { sessions: { ...store, user: 'a', password: a } },
    { sessions: { ...store, user: 'b', password: a } },
  ],
  'sessions.password': [{ sessions: { ...store, password: a } }, { sessions: { ...store, password: b } }],
  'sessions.ca': [{ sessions: { ...store, ca: 'a.pem' } }, { sessions: { ...store, ca: 'b.pem' } }],
  'sessions.sentinel': [{ sessions: { sentinel } }, { sessions: store }],
  'sessions.sentinel.master': [{ sessions: { sentinel } }, { sessions: { sentinel: { ...sentinel, master: 'b' } } }],
  'sessions.sentinel.nodes': [{ sessions: { sentinel } }, { sessions: { sentinel: { ...sentinel, nodes: ['b:1'] } } }],
  'sessions.sentinel.password': [{ sessions: { sentinel } }, { sessions: { sentinel: { ...sentinel, password: b } } }],
  'sessions.cluster': [{ sessions: { cluster: ['a:1'] } }, { sessions: { cluster: ['b:1'] } }],
  integrations: [{ integrations: [integration] }, {}],
  ...Object.fromEntries(
    Object.entries({ name: 'b', url: 'https://b', user: 'b', password: b }).map(([key, value]) => [
      `integrations.${key}`,
      [{ integrations: [integration] }, { integrations: [{ ...integration, [key]: value }] }],
    ]),
  ),
  ignore: [{ url: 'https://a', ignore: [ignored] }, { url: 'https://a' }],
  ...Object.fromEntries(
    Object.entries({ check: 'api/latency', reason: 'b', until: '2027-02-01' }).map(([key, value]) => [
      `ignore.${key}`,
      [
        { url: 'https://a', ignore: [ignored] },
        { url: 'https://a', ignore: [{ ...ignored, [key]: value }] },
      ],
    ]),
  ),
  checks: [
    { url: 'https://a', checks: ['one.mjs'] },
    { url: 'https://a', checks: ['other.mjs'] },
  ],
  accessLog: [{ url: 'https://a', accessLog: { file: 'access.log' } }, { url: 'https://a' }],
  'accessLog.file': [
    { url: 'https://a', accessLog: { file: 'access.log' } },
    { url: 'https://a', accessLog: { file: 'other.log' } },
  ],
}

describe('every key of the configuration has an effect', () => {
  test('and each has its row here', () => {
    const keys = configurationKeys().map(({ key }) => key)
    expect(Object.keys(variants).sort()).toEqual(
      keys.filter((key) => key !== 'current' && key !== 'deployments').sort(),
    )
  })

  test.each(Object.entries(variants))('%s', async (_, [one, other]) => {
    expect(await outcome(one)).toBe(await outcome(one))
    expect(await outcome(one)).not.toBe(await outcome(other))
  })

  test('current', async () => {
    expect(await outcome({}, { current: 'prod' })).not.toBe(await outcome({}, { current: 'spare' }))
  })
})

test.each([
  [
    '{build: "1", platform: kubernetes}',
    /^`build` at testops-admin.yaml:1 has no effect on platform kubernetes, only on host and compose$/,
  ],
  [
    '{image: "1", compose: {project: a}}',
    /^`image` at testops-admin.yaml:1 has no effect on platform compose, only on host$/,
  ],
  [
    '{cpuinfo: x, kubernetes: {}}',
    /^`cpuinfo` at testops-admin.yaml:1 has no effect on platform kubernetes, only on host and compose$/,
  ],
  [
    '{host: {unit: a, commands: {start: [a], stop: [a], status: [a]}}}',
    /^`host.commands` at testops-admin.yaml:1 cannot be combined with `unit`$/,
  ],
  ['{URL: "https://a"}', /^unknown key `URL` at testops-admin.yaml:1; did you mean `url`\?$/],
  ['{Host: {unit: a}}', /^unknown key `Host` at testops-admin.yaml:1; did you mean `host`\?$/],
  ['{__proto__: {url: "https://a"}}', /^unknown key `__proto__` at testops-admin.yaml:1$/],
  ['{host: {__proto__: {unit: a}}}', /^unknown key `__proto__` at testops-admin.yaml:1$/],
  ['{constructor: {}}', /^unknown key `constructor` at testops-admin.yaml:1/],
  ['{url: null}', /^`url` at testops-admin.yaml:1 must be text, not empty$/],
  ['{host: null}', /^`host` at testops-admin.yaml:1 must be a section with keys, not empty$/],
  ['{apiToken: null}', /^`apiToken` at testops-admin.yaml:1 is a secret and does not belong here/],
  ['{apiToken: {ENV: A}}', /^`apiToken.ENV` at testops-admin.yaml:1 is not a valid reference to a secret/],
  ['{vendor: {prefix: A, x: {y: 1}}}', /^unknown key `x` at testops-admin.yaml:1$/],
  ['{integrations: []}', /^`integrations` at testops-admin.yaml:1 is an empty list$/],
  ['{integrations: [null]}', /^`integrations\[0\]` at testops-admin.yaml:1 must be a section with keys, not empty$/],
  ['[]', /^`deployments.prod` at testops-admin.yaml:1 must be a section with keys, not a list$/],
])('%s is an error with its place', async (deployment, message) => {
  const folder = await folderWith({ 'testops-admin.yaml': `deployments: {prod: ${deployment}}\n` })
  await expect(findDeployment({ environment, workingDirectory: folder })).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringMatching(message) as string,
  })
})

test(
  'a program that is a relative path lies beside the configuration, ' + 'not in the folder that this is called in',
  async () => {
    const folder = await folderWith({
      'testops-admin.yaml': 'deployments: {prod: {url: "https://a", apiToken: {command: [./token, x]}}}',
      token: '#!/bin/sh\necho "right-$1"\n',
      'elsewhere/token': '#!/bin/sh\necho wrong\n',
    })
    const selected = await findDeployment({
      file: `${folder}/testops-admin.yaml`,
      environment,
      workingDirectory: `${folder}/elsewhere`,
    })
    expect((await secretReader({ environment, timeoutMs: 5000 })(selected.settings.apiToken!)).reveal()).toBe('right-x')
  },
)
