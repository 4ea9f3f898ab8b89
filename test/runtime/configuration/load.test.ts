import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import { loadConfiguration } from '../../../src/runtime/index.ts'
import { folderWith } from '../folder.ts'

const valid = 'deployments:\n  prod:\n    url: https://testops.example.org\n'

async function errorOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => 'no error',
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AdminError)) throw error
  expect(error.exitCode).toBe(64)
  return [error.message, ...error.suggestions].join('\n')
}

/** As it lies in this package, where users find it too. */
const read = 'testops-admin init --template configuration   # prints it: every key, with an example'
const copyTo = (name: string): string => `testops-admin init --template configuration > ${name}   # to fill in`
const lines = (range: string): string => `sed -n ${range}p testops-admin.yaml   # shows the lines around the error`

test.each([
  ['', 'testops-admin.yaml is empty', read],
  ['# nothing yet\n\n---\n', 'testops-admin.yaml is empty', read],
  [
    'deployments: [',
    'testops-admin.yaml:1 is not valid YAML: unexpected end of the stream within a flow collection',
    lines('1,2'),
    read,
  ],
  [
    'deployments:\n\tprod: {}\n',
    'testops-admin.yaml:2 is not valid YAML: tab characters must not be used in indentation',
    lines('1,3'),
    read,
  ],
  ['a: 1\na: 2\n', 'testops-admin.yaml:2 is not valid YAML: the key `a` appears twice', lines('1,3'), read],
  [
    'deployments:\n  on: {}\n  true: {}\n',
    'testops-admin.yaml:3 is not valid YAML: in YAML 1.1, the key `true` is the same as an earlier key: put ' +
      'the key in quotes',
    lines('1,4'),
    read,
  ],
  [
    'deployments:\n  prod:\n    <<: 5\n',
    'testops-admin.yaml:3 is not valid YAML: `<<` merges something that is not a map',
    lines('1,4'),
    read,
  ],
  [
    `${valid}---\n${valid}`,
    'testops-admin.yaml:4 is not valid YAML: expected a single document in the stream, but found more',
    lines('2,5'),
    read,
  ],
  ['- prod\n', 'the configuration at testops-admin.yaml:1 must be a section with keys, not a list', read],
  [
    'deployments:\n  prod: {url: [\n',
    'testops-admin.yaml:2 is not valid YAML: deficient indentation',
    lines('1,3'),
    read,
  ],
  ['just text\n', 'the configuration at testops-admin.yaml:1 must be a section with keys, not text', read],
  ['current: prod\n', 'the configuration at testops-admin.yaml:1 lacks the key `deployments`', read],
  [
    'deployments:\n  a:\n    ignore:\n      - {check: broker/reachable, reason: x, until: 2027-01-31}\n',
    '`ignore[0].check` at testops-admin.yaml:4 cannot be ignored: without it, `doctor` would be wrong ' +
      'about all else',
    read,
  ],
  [
    'deployments:\n  a:\n    ignore:\n      - {check: api/latency, reason: x, until: 2027-02-30}\n',
    '`ignore[0].until` at testops-admin.yaml:4 must be a day of the calendar, such as 2027-01-31',
    read,
  ],
  [
    'deployments:\n  a:\n    ignore:\n      - {check: latency, reason: x, until: 2027-02-01}\n',
    '`ignore[0].check` at testops-admin.yaml:4 is not the id of a check; did you mean `api/latency`?',
    read,
  ],
  ['deployments: {}\n', '`deployments` at testops-admin.yaml:1 names no deployment', read],
  ['deployments:\n', '`deployments` at testops-admin.yaml:1 must be a section with keys, not empty', read],
  [
    'deployments:\n  prod:\n',
    '`deployments.prod` at testops-admin.yaml:2 must be a section with keys, not empty',
    read,
  ],
  [
    'deployments:\n  "../x": {}\n',
    '`deployments.../x` at testops-admin.yaml:2 must contain only letters, digits, dots, dashes and ' +
      'underscores (63 at most), and begin with a letter or a digit',
    read,
  ],
  [
    'curent: prod\ndeployments: {}\n',
    'unknown key `curent` at testops-admin.yaml:1; did you mean `current`?',
    'keys allowed there: current, deployments',
  ],
  [
    '__proto__: 1\ndeployments: {}\n',
    'unknown key `__proto__` at testops-admin.yaml:1',
    'keys allowed there: current, deployments',
  ],
])('%j', async (text, message, ...next) => {
  const workingDirectory = await folderWith({ 'testops-admin.yaml': text })
  expect(await errorOf(loadConfiguration({ environment: {}, workingDirectory }))).toBe([message, ...next].join('\n'))
})

test.each([
  ['databse: {}', 'unknown key `databse` at testops-admin.yaml:4; did you mean `database`?'],
  [
    'managementUrl: http://mq:15672',
    'unknown key `managementUrl` at testops-admin.yaml:4; `managementUrl` belongs in `broker`',
  ],
  [
    'host: {image: "testops:1"}',
    'unknown key `image` at testops-admin.yaml:4; `image` belongs in the deployment itself',
  ],
  ['host: {unt: testops}', 'unknown key `unt` at testops-admin.yaml:4; did you mean `unit`?'],
  ['platform: hosts', '`platform` at testops-admin.yaml:4 must be kubernetes, compose or host'],
  ['host: {unit: [testops]}', '`host.unit` at testops-admin.yaml:4 must be text, not a list'],
  ['host: {unit: "a b"}', '`host.unit` at testops-admin.yaml:4 is not the name of a systemd unit'],
  ['host: {commands: {start: [a], stop: [b]}}', '`host.commands` at testops-admin.yaml:4 lacks the key `status`'],
  [
    'host: {commands: {start: a b, stop: [b], status: [c]}}',
    '`host.commands.start` at testops-admin.yaml:4 must be a list, not text',
  ],
  [
    'host: {commands: {start: [], stop: [b], status: [c]}}',
    '`host.commands.start` at testops-admin.yaml:4 is an empty list',
  ],
  [
    'host: {commands: {start: [sleep, 1], stop: [b], status: [c]}}',
    '`host.commands.start[1]` at testops-admin.yaml:4 must be text, not a number',
  ],
  [
    'host:\n      logs:\n        file: a\n        command: [b]',
    '`host.logs.command` at testops-admin.yaml:7 cannot be combined with `file`',
  ],
  ['build: 527', '`build` at testops-admin.yaml:4 must be text, not a number'],
  ['build: true', '`build` at testops-admin.yaml:4 must be text, not true or false'],
  ['build: ""', '`build` at testops-admin.yaml:4 is empty'],
  ['timeZone: Mars/Olympus', '`timeZone` at testops-admin.yaml:4 is not a time zone; an example is Europe/Berlin'],
  [
    'vendor: {prefix: vendor}',
    '`vendor.prefix` at testops-admin.yaml:4 must be upper-case letters, digits and underscores, and begin ' +
      'with a letter',
  ],
  [
    'apiToken: abc',
    `\`apiToken\` at testops-admin.yaml:4 is a secret and does not belong here; instead, say where the secret is ` +
      `kept: ${forms()}`,
  ],
  ['apiToken: {}', `\`apiToken\` at testops-admin.yaml:4 must have one key: ${forms()}`],
  ['apiToken: {env: A, file: b}', `\`apiToken\` at testops-admin.yaml:4 must have one key: ${forms()}`],
  [
    'apiToken: {environment: A}',
    `\`apiToken.environment\` at testops-admin.yaml:4 is not a valid reference to a secret; use ${forms()}`,
  ],
  ['apiToken: {env: A-B}', '`apiToken.env` at testops-admin.yaml:4 is not the name of an environment variable'],
  ['apiToken: {command: pass show x}', '`apiToken.command` at testops-admin.yaml:4 must be a list, not text'],
  ['database: {url: "postgresql://u:hunter2@h/d"}', `\`database.url\` at testops-admin.yaml:4 ${noPassword()}`],
  [
    'database: {url: "jdbc:postgresql://h/d?user=u&password=hunter2"}',
    `\`database.url\` at testops-admin.yaml:4 ${noPassword()}`,
  ],
  [
    'database:\n      - url: postgresql://h/d\n      - url: mysql://h/d',
    '`database[1].url` at testops-admin.yaml:6 must begin with postgresql:// or postgres://',
  ],
  ['database: {url: "postgresql://h:99999/d"}', '`database.url` at testops-admin.yaml:4 has a port outside 1 to 65535'],
  ['database: {url: "postgresql://h"}', '`database.url` at testops-admin.yaml:4 names no database'],
  [
    'database: {url: "postgresql://h/d?sslmode=maybe"}',
    '`database.url` at testops-admin.yaml:4 has an unknown sslmode',
  ],
  ['database: []', '`database` at testops-admin.yaml:4 is an empty list'],
  ['broker: {url: "amqp://u:hunter2@h"}', `\`broker.url\` at testops-admin.yaml:4 ${noPassword()}`],
  ['broker: {url: "http://h"}', '`broker.url` at testops-admin.yaml:4 must begin with amqp:// or amqps://'],
  [
    'broker: {managementUrl: "http://u:hunter2@h:15672"}',
    '`broker.managementUrl` at testops-admin.yaml:4 contains credentials; leave them out',
  ],
  ['sessions: {url: "redis://:hunter2@h"}', `\`sessions.url\` at testops-admin.yaml:4 ${noPassword()}`],
  [
    'sessions: {url: "redis://h/x"}',
    '`sessions.url` at testops-admin.yaml:4 has a database index that is not a number',
  ],
  [
    'sessions: {url: "redis://h", cluster: ["h:1"]}',
    '`sessions.cluster` at testops-admin.yaml:4 cannot be combined with `url`',
  ],
  ['sessions: {cluster: ["h:x"]}', '`sessions.cluster[0]` at testops-admin.yaml:4 is not host:port'],
  ['sessions: {sentinel: {nodes: ["h:1"]}}', '`sessions.sentinel` at testops-admin.yaml:4 lacks the key `master`'],
  ['integrations: [{name: jira}]', '`integrations[0]` at testops-admin.yaml:4 lacks the key `url`'],
])('a deployment with %s', async (text, message) => {
  const workingDirectory = await folderWith({
    'testops-admin.yaml': `deployments:\n  prod:\n    url: https://testops.example.org\n    ${text}\n`,
  })
  const error = await errorOf(loadConfiguration({ environment: {}, workingDirectory }))
  expect(error.split('\n')[0]).toBe(message)
  expect(error).not.toContain('hunter2')
})

function forms(): string {
  return '{env: NAME}, {file: PATH}, {command: [PROGRAM, …]} or {kubernetesSecret: NAME/KEY}'
}

function noPassword(): string {
  return (
    'holds a password; remove it, and add a key to the same section: `password: {env: NAME}` or `password: ' +
    '{file: PATH}`'
  )
}

test('several mistakes are told at once, in the order of the file', async () => {
  const text =
    'curent: prod\ndeployments:\n  prod:\n    platform: hots\n    database:\n      - {url: ' +
    '"postgresql://u:hunter2@h/d"}\n      - {url: 5}\n    broker: {}\n    apiToken: hunter2\n'
  const workingDirectory = await folderWith({ 'testops-admin.yaml': text })
  expect(await errorOf(loadConfiguration({ environment: {}, workingDirectory }))).toBe(
    [
      'there are 5 mistakes',
      '- unknown key `curent` at testops-admin.yaml:1; did you mean `current`?; keys allowed there: current, ' +
        'deployments',
      '- `platform` at testops-admin.yaml:4 must be kubernetes, compose or host; did you mean host?',
      `- \`database[0].url\` at testops-admin.yaml:6 ${noPassword()}`,
      '- `database[1].url` at testops-admin.yaml:7 must be text, not a number; put it in quotes: "5"',
      `- \`apiToken\` at testops-admin.yaml:9 is a secret and does not belong here; instead, say where the secret is ` +
        `kept: ${forms()}`,
      read,
    ].join('\n'),
  )
})

test('a deployment whose address is wrong, too, names the line', async () => {
  const workingDirectory = await folderWith({
    'testops-admin.yaml': 'deployments:\n  prod:\n    url: testops.example.org\n',
  })
  expect(await errorOf(loadConfiguration({ environment: {}, workingDirectory }))).toBe(
    `\`url\` at testops-admin.yaml:3 must begin with http:// or https://, most likely ` +
      `https://testops.example.org\n${read}`,
  )
})

test('a named file that is not there, a directory, too large, not UTF-8', async () => {
  const workingDirectory = await folderWith({
    'large.yaml': `# ${'x'.repeat(1_000_000)}`,
    'latin1.yaml': new Uint8Array([0x61, 0x3a, 0x20, 0xe4]),
    'folder/x': '',
    'own/testops-admin.yaml': valid,
    'prod.yaml': valid,
  })
  const load = (file: string): Promise<string> =>
    errorOf(loadConfiguration({ file, environment: {}, workingDirectory }))
  expect(await load('none.yaml')).toBe(
    `cannot read the configuration none.yaml: the file is missing\n${copyTo('none.yaml')}`,
  )
  expect(await load('prdo.yaml')).toBe(
    `cannot read the configuration prdo.yaml: the file is missing\n--config prod.yaml\n${copyTo('prdo.yaml')}`,
  )
  expect(await load('nowhere/x.yaml')).toBe(
    `cannot read the configuration nowhere/x.yaml: the file is missing\nls -ld nowhere\n${read}`,
  )
  expect(await load('folder')).toBe(`cannot read the configuration folder: it is a directory\nls -l folder\n${read}`)
  expect(await load('own')).toBe(
    'cannot read the configuration own: it is a directory\n--config own/testops-admin.yaml',
  )
  expect(await load('large.yaml')).toBe(
    `large.yaml is too large: a configuration may have at most 1000000 bytes\n${read}`,
  )
  expect(await load('latin1.yaml')).toBe(`cannot read the configuration latin1.yaml: it is not UTF-8 text\n${read}`)
  expect(await load('/dev/zero')).toBe(`cannot read the configuration /dev/zero: it is a device, not a file\n${read}`)
})

test('the search goes from here upwards, then to the configuration folder', async () => {
  const root = await folderWith({
    'up/testops-admin.yaml': valid,
    'up/a/b/x': '',
    'home/.config/testops-admin/config.yaml': valid,
    'xdg/testops-admin/config.yaml': valid,
    'elsewhere/x': '',
  })
  const found = async (workingDirectory: string, environment: Record<string, string>): Promise<string> =>
    (await loadConfiguration({ environment, workingDirectory: join(root, workingDirectory) })).file
  expect(await found('up/a/b', { HOME: join(root, 'home') })).toBe(join(root, 'up/testops-admin.yaml'))
  expect(await found('elsewhere', { HOME: join(root, 'home') })).toBe(
    join(root, 'home/.config/testops-admin/config.yaml'),
  )
  expect(await found('elsewhere', { HOME: join(root, 'home'), XDG_CONFIG_HOME: join(root, 'xdg') })).toBe(
    join(root, 'xdg/testops-admin/config.yaml'),
  )
  expect(
    await errorOf(loadConfiguration({ environment: { HOME: '/nowhere' }, workingDirectory: join(root, 'elsewhere') })),
  ).toBe(
    [
      `no configuration found: no testops-admin.yaml in ${root}/elsewhere or above, no ` +
        '/nowhere/.config/testops-admin/config.yaml',
      'testops-admin init   # finds a deployment, asks for the rest, and writes a configuration',
      copyTo('testops-admin.yaml'),
      '--config FILE   # reads the configuration from FILE',
      'testops-admin lab up   # starts a practice deployment; then use -d lab',
    ].join('\n'),
  )
})

test('a directory of that name is an error, not passed over', async () => {
  const workingDirectory = await folderWith({ 'testops-admin.yaml/x': '' })
  expect(await errorOf(loadConfiguration({ environment: {}, workingDirectory }))).toBe(
    `cannot read the configuration testops-admin.yaml: it is a directory\nls -l testops-admin.yaml\n${read}`,
  )
})

test('aliases are shared, files are meant from the configuration', async () => {
  const workingDirectory = await folderWith({})
  await mkdir(join(workingDirectory, 'etc'))
  await writeFile(
    join(workingDirectory, 'etc/own.yaml'),
    'deployments:\n  a: &a\n    host: {environmentFile: testops.env}\n    apiToken: {file: token}\n  b: *a\n',
  )
  const { settings } = await loadConfiguration({ file: 'etc/own.yaml', environment: {}, workingDirectory })
  expect(settings.deployments.get('b')).toEqual({
    host: { environmentFile: { path: join(workingDirectory, 'etc/testops.env'), at: 'etc/own.yaml:5' } },
    apiToken: { form: 'file', path: join(workingDirectory, 'etc/token'), at: 'etc/own.yaml:5' },
  })
})
