import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { initiated } from '../../../src/cli/init/run-init.ts'
import type { Asker } from '../../../src/cli/init/interview.ts'
import type { InitFlags } from '../../../src/cli/init/flags.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { InitDocument } from '../../../src/output/init.ts'
import { loadConfiguration } from '../../../src/runtime/index.ts'
import { composeWorld, recorded } from '../../platforms/compose/world.ts'
import type { ComposeWorld, Shown } from '../../platforms/compose/world.ts'
import { faultsOf } from '../../output/schemas.ts'

/** A person who gives these answers, by the first words of what is asked; all else is left open. */
function person(answers: Readonly<Record<string, string>>): { asker: Asker; asked: string[] } {
  const asked: string[] = []
  const answerTo = (message: string): string | undefined => {
    asked.push(message)
    return Object.entries(answers).find(([begins]) => message.startsWith(begins))?.[1]
  }
  return {
    asked,
    asker: {
      text: async (_question, message, { usual = '', problem } = {}) => {
        const answer = answerTo(message) ?? usual
        const wrong = await problem?.(answer)
        if (wrong) throw new Error(wrong)
        return answer
      },
      choice: async (_question, message, choices) => {
        const answer = answerTo(message)
        return (choices.find(({ name }) => answer !== undefined && name.startsWith(answer)) ?? choices[0]!).value
      },
    },
  }
}

interface Ran {
  document: InitDocument | null
  error: AdminError | null
  said: string[]
  /** the deployment's part of what was written */
  written: string
}

async function run(
  world: ComposeWorld,
  flags: Partial<InitFlags> = {},
  asker: Asker | null = null,
  environment: Record<string, string> = {},
): Promise<Ran> {
  const workingDirectory = join(world.folder, 'work')
  await mkdir(workingDirectory, { recursive: true })
  const said: string[] = []
  const around = {
    environment: { PATH: join(world.folder, 'bin'), HOME: world.folder, ...environment },
    workingDirectory,
    ...(asker && { askerWith: () => asker }),
    progress: (it: string) => void said.push(it),
    signal: new AbortController().signal,
    processRoot: join(world.folder, 'proc'),
  }
  const result = await initiated({ json: false, output: 'testops-admin.yaml', timeout: 2, ...flags }, around).catch(
    (error: unknown) => error,
  )
  if (!(result instanceof AdminError) && result instanceof Error) throw result
  const text = await readFile(join(workingDirectory, 'testops-admin.yaml'), 'utf8').catch(() => '')
  const written = text
    .slice(text.indexOf('deployments:'))
    .replaceAll(/ +#.*$/gm, '')
    .replaceAll(world.folder, '')
  return result instanceof AdminError
    ? { document: null, error: result, said, written }
    : { document: result as InitDocument, error: null, said, written }
}

const nothing = async (): Promise<ComposeWorld> => composeWorld({}, {})
const outcome = ({ document }: Ran): object =>
  Object.fromEntries((document?.connections ?? []).map(({ part, status }) => [part, status]))
const without = ({ Config }: Shown): void => void (Config.Env = ['TZ=UTC'])

test('what is found needs no question', async () => {
  const world = await composeWorld({ containers: [await recorded('testops', without)] }, {})
  const ran = await run(world)
  expect(ran.written).toBe(
    'deployments:\n  testops:\n    platform: compose\n    compose:\n      project: testops\n      service: testops\n',
  )
  expect(outcome(ran)).toEqual({
    service: 'ok',
    database: 'absent',
    broker: 'absent',
    sessions: 'absent',
    api: 'absent',
  })
  expect(ran.said).toEqual([
    'Found compose project `testops` (service testops, image registry.example.org/qameta/testops:26.2.1)',
  ])
  expect(faultsOf('init', ran.document)).toEqual([])
})

test('what is written is for its owner alone, is commented, and loads', async () => {
  const world = await nothing()
  const { document } = await run(world, {
    platform: 'host',
    unit: 'no-such-unit',
    name: 'old-box',
    url: 'http://127.0.0.1:9',
  })
  const file = document!.file
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect((await readFile(file, 'utf8')).split('\n').slice(-8)).toEqual([
    'current: old-box                                                  # deployment to use if neither `-d` nor ' +
      'TESTOPS_ADMIN_DEPLOYMENT names one',
    'deployments:                                                      # the deployments by name',
    '  old-box:',
    '    url: "http://127.0.0.1:9"                                     # address of the web interface',
    '    platform: host                                                # where the service runs: kubernetes, ' +
      'compose, host',
    '    host:                                                         # the service on this machine, run by a ' +
      'systemd unit or by your own commands',
    '      unit: no-such-unit                                          # systemd unit of the service',
    '',
  ])
  const loaded = await loadConfiguration({ file, environment: {}, workingDirectory: '/' })
  expect(loaded.settings.deployments.get('old-box')).toEqual({
    url: 'http://127.0.0.1:9',
    platform: 'host',
    host: { unit: 'no-such-unit' },
  })
})

test(
  'flags say all that is not found; ' + 'secrets by where they are kept, files from where the command is typed',
  async () => {
    const world = await nothing()
    await mkdir(join(world.folder, 'work'), { recursive: true })
    await writeFile(join(world.folder, 'work/password'), 'p4ss\n')
    await writeFile(join(world.folder, 'work/service.env'), 'TZ=UTC\n')
    const flags = {
      'environment-file': 'service.env',
      'database-url': 'postgresql://u@127.0.0.1:1/testops',
      'database-password': 'file:password',
      'broker-url': 'amqp://u@127.0.0.1:1',
      'broker-password': 'env:MQ_PASSWORD',
      'sessions-url': 'redis://127.0.0.1:1/0',
      url: 'http://127.0.0.1:1',
      'api-token': 'env:TESTOPS_TOKEN',
    }
    const ran = await run(world, flags, null, { MQ_PASSWORD: 'mq-p4ss', TESTOPS_TOKEN: 't0ken' })
    expect(ran.written).toBe(`deployments:
  prod:
    url: "http://127.0.0.1:1"
    apiToken: {env: TESTOPS_TOKEN}
    platform: host
    host:
      environmentFile: /work/service.env
    database:
      url: "postgresql://u@127.0.0.1:1/testops"
      password: {file: /work/password}
    broker:
      url: "amqp://u@127.0.0.1:1"
      password: {env: MQ_PASSWORD}
    sessions:
      url: "redis://127.0.0.1:1/0"
`)
    expect(outcome(ran)).toEqual({
      service: 'absent',
      database: 'failed',
      broker: 'failed',
      sessions: 'failed',
      api: 'failed',
    })
    expect(JSON.stringify(ran.document)).not.toMatch(/p4ss|t0ken/)
  },
)

test('a person is asked for the rest, and for nothing that is known', async () => {
  const world = await composeWorld(
    {
      containers: [
        await recorded(
          'testops',
          ({ Config }) => (Config.Env = ['SPRING_DATA_REDIS_HOST=127.0.0.1', 'SPRING_DATA_REDIS_PORT=1']),
        ),
      ],
    },
    {},
  )
  const { asker, asked } = person({
    'Address of the web': 'http://127.0.0.1:1',
    'Address of the database': 'postgresql://u@127.0.0.1:1/testops',
    "Where is the database's": 'env:DB_PASSWORD',
    'Where is the API token': 'file:token',
  })
  await mkdir(join(world.folder, 'work'), { recursive: true })
  await writeFile(join(world.folder, 'work/token'), 't0ken\n')
  const ran = await run(world, {}, asker, { DB_PASSWORD: 'p4ss' })
  expect(asked.map((it) => it.replace(/[,(:].*/, '').trim())).toEqual([
    'Name of the deployment',
    'Address of the web interface',
    'Keep this answer?',
    'Address of the database',
    'Keep this answer?',
    "Where is the database's password kept? env",
    'Address of the broker',
    'Where is the API token kept? env',
  ])
  expect(ran.written).toBe(`deployments:
  testops:
    url: "http://127.0.0.1:1"
    apiToken: {file: /work/token}
    platform: compose
    compose:
      project: testops
      service: testops
    database:
      url: "postgresql://u@127.0.0.1:1/testops"
      password: {env: DB_PASSWORD}
`)
  expect(outcome(ran)).toEqual({
    service: 'ok',
    database: 'failed',
    broker: 'absent',
    sessions: 'failed',
    api: 'failed',
  })
})

test('a password that is typed with an address is refused before it is anywhere', async () => {
  const world = await composeWorld({ containers: [await recorded('testops', without)] }, {})
  const { asker } = person({ 'Address of the database': 'postgresql://u:p4ss@127.0.0.1/testops' })
  await expect(run(world, {}, asker)).rejects.toThrow('The answer holds a password')
})

test('where nothing is found a person may know', async () => {
  const { asker, asked } = person({ 'Nothing was found': 'on this', 'Systemd unit': 'tms', 'Name of': 'mine' })
  const ran = await run(await nothing(), {}, asker)
  expect(asked.slice(0, 3)).toEqual([
    'No deployment was found. Where does the service run?',
    'Systemd unit of the service (leave empty if there is no unit):',
    'Keep this answer?',
  ])
  expect(ran.written).toBe('deployments:\n  mine:\n    platform: host\n    host:\n      unit: tms\n')
})

/** What the kernel shows of processes, by their numbers: command line, and environment where it may be read. */
async function processes(
  world: ComposeWorld,
  all: Readonly<Record<string, { words: readonly string[]; environment?: readonly string[] }>>,
): Promise<ComposeWorld> {
  for (const [pid, { words, environment }] of Object.entries(all)) {
    const place = join(world.folder, 'proc', pid)
    await mkdir(place, { recursive: true })
    await writeFile(join(place, 'cmdline'), words.map((it) => `${it}\0`).join(''))
    await writeFile(join(place, 'status'), 'Uid:\t0\t0\n')
    if (environment) await writeFile(join(place, 'environ'), environment.map((it) => `${it}\0`).join(''))
  }
  return world
}
const service = ['/usr/bin/java', '-jar', '/opt/testops/testops.jar', '\u001b[2J']

test('a Java process is found without a terminal, too; its password is nowhere', async () => {
  const environment = [
    'SPRING_RABBITMQ_HOST=127.0.0.1',
    'SPRING_RABBITMQ_PORT=1',
    'SPRING_RABBITMQ_PASSWORD=hunter2',
    'LOGGING_FILE_NAME=/var/log/t.log',
  ]
  const ran = await run(await processes(await nothing(), { 812: { words: service, environment } }))
  expect(ran.written).toBe(
    'deployments:\n  testops:\n    platform: host\n    host:\n      logs:\n        file: /var/log/t.log\n    ' +
      'broker:\n      url: "amqp://127.0.0.1:1/%2F"\n      user: guest\n',
  )
  expect([ran.document?.found, outcome(ran)]).toEqual([
    'process 812 (java /opt/testops/testops.jar, user root)',
    { service: 'absent', database: 'absent', broker: 'failed', sessions: 'absent', api: 'absent' },
  ])
  expect(JSON.stringify([ran.document, ran.said])).not.toContain('hunter2')
})

test('of several Java processes one is named, or chosen, or none of them', async () => {
  const two = async (): Promise<ComposeWorld> =>
    processes(await nothing(), {
      812: { words: service },
      813: { words: service, environment: ['X_REDIS_NAMESPACE=a'] },
    })
  const { error } = await run(await two())
  expect([error?.code, error?.suggestions]).toEqual([
    'CONFIGURATION',
    ['testops-admin init -d testops-812', 'testops-admin init -d testops-813'],
  ])
  expect(error?.message).toContain(
    '`testops-812`, the process 812 (java /opt/testops/testops.jar, user root), whose environment this user ' +
      'may not read',
  )
  const { asker, asked } = person({ 'Which deployment': 'testops-813', 'Name of': 'mine' })
  expect((await run(await two(), {}, asker)).written).toBe(
    'deployments:\n  mine:\n    platform: host\n    vendor:\n      prefix: X\n',
  )
  expect(asked).toContain('Command that starts the service (leave empty if there is no command):')
  const none = person({ 'Which deployment': 'none', 'Nothing was found': 'on this', 'Systemd unit': 'tms' })
  expect((await run(await two(), { name: 'prod' }, none.asker)).written).toBe(
    'deployments:\n  prod:\n    platform: host\n    host:\n      unit: tms\n',
  )
})

test('several wrong flags are told together', async () => {
  const { error } = await run(await nothing(), { unit: 'a b', url: 'x', 'environment-file': 'none.env' })
  expect(error?.message).toMatch(
    new RegExp(
      String.raw`^there are 3 mistakes\n- --url must begin with [^\n]*\n- --unit is not the name of a systemd unit; ` +
        String.raw`for example: testops\n- --environment-file names a file that does not exist: `,
    ),
  )
})

test('of several, one is named by a flag, or chosen', async () => {
  const staging = await recorded('stopped', (shown) => {
    without(shown)
    shown.Id = 'b'.repeat(64)
    shown.Config.Labels['com.docker.compose.project'] = 'staging'
  })
  const both = async (): Promise<ComposeWorld> =>
    composeWorld({ containers: [await recorded('testops', without), staging] }, {})
  const { error } = await run(await both())
  expect([error?.code, error?.suggestions]).toEqual([
    'CONFIGURATION',
    ['testops-admin init -d testops', 'testops-admin init -d staging'],
  ])
  expect((await run(await both(), { name: 'staging' })).written).toMatch(
    /^deployments:\n {2}staging:\n[^]*project: staging\n/,
  )
  expect((await run(await both(), { deployment: 'staging', name: 'next' })).written).toMatch(
    /^deployments:\n {2}next:\n[^]*project: staging\n/,
  )
  expect((await run(await both(), {}, person({ 'Which deployment': 'staging' }).asker)).document?.deployment).toBe(
    'staging',
  )
})

test.each<[string, Partial<InitFlags>, string, RegExp]>([
  [
    'nothing that is found',
    {},
    'CONFIGURATION',
    new RegExp(
      '^no deployment was found: systemd is not installed; no container of docker has the image `testops` or ' +
        '`testops-legacy`, and no compose file in .* or a folder above it declares one of these images; ' +
        'no cluster is known: ',
    ),
  ],
  [
    'a platform and a flag of another',
    { platform: 'compose', unit: 'x' },
    'USAGE',
    /^--unit is for platform `host`, but --platform compose is for `compose`: choose one platform$/,
  ],
  [
    'flags of two platforms',
    { unit: 'x', namespace: 'y' },
    'USAGE',
    /^--namespace is for platform `kubernetes`, but --unit is for `host`/,
  ],
  [
    'a secret in clear',
    { unit: 'x', 'api-token': 'hunter2' },
    'USAGE',
    /^--api-token must say where the secret is kept, and must not be the secret itself. Use env:NAME or file:PATH$/,
  ],
  [
    'a password in an address',
    { 'database-url': 'postgresql://u:hunter2@h/d' },
    'CONFIGURATION',
    /^--database-url holds a password; remove it/,
  ],
  [
    'an address that is none',
    { unit: 'x', url: 'testops.example.org' },
    'CONFIGURATION',
    /^--url must begin with http:\/\/ or https:\/\//,
  ],
  [
    'a name that no deployment may have',
    { unit: 'x', name: 'a b' },
    'CONFIGURATION',
    new RegExp(
      'must contain only letters, digits, dots, dashes and underscores ' +
        String.raw`\(63 at most\), and begin with a letter or a digit$`,
    ),
  ],
  [
    'a secret that is not there',
    { unit: 'x', 'api-token': 'env:TESTOPS_TOKEN' },
    'SECRET_MISSING',
    /the environment variable TESTOPS_TOKEN is not set$/,
  ],
  [
    'a folder that is not there',
    { unit: 'x', output: 'none/x.yaml' },
    'UNAVAILABLE',
    /none\/x\.yaml cannot be written: the folder does not exist$/,
  ],
])('%s leaves nothing behind', async (_, flags, code, message) => {
  const { error, written } = await run(await nothing(), flags)
  expect([error?.code, written]).toEqual([code, ''])
  expect(error?.message).toMatch(message)
  expect(`${error?.message} ${error?.suggestions.join(' ')}`).not.toContain('hunter2')
})

test('a file that is there is left alone', async () => {
  const world = await nothing()
  await mkdir(join(world.folder, 'work'), { recursive: true })
  const file = join(world.folder, 'work/testops-admin.yaml')
  await writeFile(file, 'mine')
  const { error } = await run(world, { unit: 'x' })
  expect([error?.code, error?.message, error?.suggestions]).toEqual([
    'REFUSED',
    `${file} already exists. Nothing was written`,
    ['--output FILE   # another file', `mv ${file} ${file}.old`],
  ])
  expect(await readFile(file, 'utf8')).toBe('mine')
})
