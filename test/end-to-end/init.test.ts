import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decisive } from '../support/campaign.ts'
import { onTerminal } from '../support/terminal.ts'
import type { Answer, Shown } from '../support/terminal.ts'

const cancelled = 'Cancelled. Nothing was changed.'
const kept = 'Your answers are kept. The next `testops-admin init` offers them again.'
/** nothing is looked for on this machine itself */
const init = 'testops-admin init --platform compose'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-init-'))
  await mkdir(join(folder, 'work'), { mode: 0o700 })
  await writeFile(join(folder, 'work/token'), 't0ken\n', { mode: 0o600 })
})
afterEach(async () => rm(folder, { recursive: true, force: true }))

async function type(
  line: string,
  answers: readonly Answer[],
  env: Readonly<Record<string, string>> = {},
): Promise<Shown> {
  return onTerminal(line, {
    cwd: join(folder, 'work'),
    env: {
      XDG_STATE_HOME: join(folder, 'state'),
      XDG_CONFIG_HOME: join(folder, 'config'),
      KUBECONFIG: join(folder, 'none'),
      DOCKER_HOST: `unix://${folder}/none`,
      ...env,
    },
    answers,
  })
}

/** Every question of a deployment under Compose, with an answer that is fine. */
const questions: readonly Answer[] = [
  [/Compose file of the service/, '\r'],
  [/Name of the compose project/, 'tms\r'],
  [/Service name in compose/, '\r'],
  [/Keep this answer[^]*Which one/, '\r'],
  [/Name of the deployment/, '\r'],
  [/Address of the web interface/, 'http://127.0.0.1:1\r'],
  [/Keep this answer[^]*Which one/, '\r'],
  [/Address of the database, /, '\r'],
  [/Address of the broker, /, '\r'],
  [/Address of the session store, /, '\r'],
  [/Where is the API token kept/, 'file:token\r'],
]
const answered = (end: string): string[] => end.trimEnd().split('\n')
const draft = async (): Promise<{ text: string; mode: number } | null> => {
  const [name] = await readdir(join(folder, 'state/testops-admin/init')).catch(() => [])
  if (name === undefined) return null
  const file = join(folder, 'state/testops-admin/init', name)
  return { text: await readFile(file, 'utf8'), mode: (await stat(file)).mode & 0o777 }
}

test.each(decisive([0, 1, 2, 3, 4, 5, 6, 7, 10], 3))(
  'Ctrl-C after %i answers keeps them',
  async (count) => {
    const [next] = questions.slice(count)
    const { exitCode, text } = await type(init, [...questions.slice(0, count), [next![0], '\u0003']])
    expect([exitCode, answered(text).slice(count === 0 ? -1 : -2)]).toEqual([
      4,
      count === 0 ? [cancelled] : [kept, cancelled],
    ])
    const found = await draft()
    expect(found?.mode).toBe(count === 0 ? undefined : 0o600)
    expect(await readdir(join(folder, 'work'))).toEqual(['token'])
  },
  60_000,
)

test('what was kept is offered, and gone once the file is written', async () => {
  await type(init, [...questions.slice(0, 10), [questions[10]![0], 'file:token\u0003']])
  expect(JSON.parse((await draft())!.text)).toMatchObject({
    answers: {
      'compose-file': '',
      'compose-project': 'tms',
      'compose-service': 'testops',
      name: 'prod',
      url: 'http://127.0.0.1:1',
      'database-url': '',
    },
  })
  const { exitCode, text } = await type(
    init,
    questions.map(([shown]): Answer => [shown, shown.source.includes('token') ? 'file:token\r' : '\r']),
  )
  expect(text).toMatch(
    new RegExp(
      'Your\\s+answers\\s+to\\s+an\\s+earlier\\s+`init`\\s+are\\s+filled\\s+in\\.\\s+' +
        String.raw`Press\s+Enter\s+to\s+accept\s+an\s+answer,\s+or\s+Ctrl-U to\s+clear\s+it\.`,
    ),
  )
  expect([exitCode, await draft()]).toEqual([3, null])
  expect(await readFile(join(folder, 'work/testops-admin.yaml'), 'utf8')).toMatch(
    /prod:\n {4}url: "http:\/\/127\.0\.0\.1:1"[^]*project: tms/,
  )
}, 60_000)

test('each wrong answer is asked again, with what is expected, and none is lost', async () => {
  const { exitCode, text } = await type(init, [
    [/Compose file of the service/, 'no/such.yml\r'],
    [/names a file that does not exist[^]*Compose file of the service/, `${'x'.repeat(100_000)}\r`],
    [/longer than 1000 characters[^]*Compose file of the service/, '/\r'],
    [/does not name a regular file[^]*Compose file of the service/, '\r'],
    [/Name of the compose project/, 'a\u202eb\r'],
    [/cannot be displayed[^]*Name of the compose project/, 'tms\r'],
    ...questions.slice(2, 4),
    [/Name of the deployment/, '\u0015a b\r'],
    [/The name must contain only letters[^]*Name of the deployment/, 'prod\r'],
    [/Address of the web/, 'testops.example.org\r'],
    [/must begin with http[^]*For example: https:[^]*Address of the web/, 'http://127.0.0.1:99999\r'],
    [/has an invalid host or port[^]*Address of the web/, 'http://127.0.0.1:1\r'],
    [/This answer does not work[^]*Which one/, '\u00152\r'],
    [/Address of the web/, '\r'],
    [/Keep this answer[^]*Which one/, '\r'],
    [/Address of the database, /, 'postgresql://u:hunter2@127.0.0.1/d\r'],
    [/holds a password[^]*Address of the database, /, '\r'],
    ...questions.slice(8, 10),
    [/Where is the API token/, 'hunter2\r'],
    [/must say where the secret is kept[^]*Where is the API token/, 'env:NO_SUCH_VARIABLE\r'],
    [/is not set[^]*Where is the API token/, 'file:token\r'],
  ])
  expect([exitCode, await draft()]).toEqual([3, null])
  expect(text).toContain('Wrote ')
  expect(await readFile(join(folder, 'work/testops-admin.yaml'), 'utf8')).toMatch(
    /url: "http:\/\/127\.0\.0\.1:1"[^]*apiToken: \{file: .*work\/token\}[^]*project: tms/,
  )
}, 90_000)

test('Ctrl-D cancels; after Ctrl-Z and fg the question can be answered', async () => {
  const { exitCode, text } = await type(`set -m; ${init}; echo stopped; fg`, [
    [/Compose file of the service/, '\r'],
    [/Name of the compose/, 't\u001A'],
    [/stopped[^]*Name of the compose/, 'ms\r'],
    [/Service name in compose/, '\u0015\u0004'],
  ])
  expect([exitCode, answered(text).slice(-2)]).toEqual([4, [kept, cancelled]])
  expect((await draft())!.text).toContain('"compose-project":"tms"')
}, 60_000)

test('where nothing can be kept that is said, and the exit is the same', async () => {
  const { exitCode, text } = await type(init, [...questions.slice(0, 2), [questions[2]![0], '\u0003']], {
    XDG_STATE_HOME: join(folder, 'work/token'),
  })
  expect([exitCode, answered(text).at(-1)]).toEqual([4, cancelled])
  expect(text).toContain('Your answers cannot be kept: ')
}, 60_000)

test('of two at once for one file, one writes it', async () => {
  // the later one may be offered what the other was answered
  const typed = questions.map(([shown, keys]): Answer => [shown, keys === '\r' ? keys : `\u0015${keys as string}`])
  const both = await Promise.all([type(init, typed), type(init, typed)])
  expect(both.map(({ exitCode }) => exitCode).sort()).toEqual([3, 4])
  expect(both.find(({ exitCode }) => exitCode === 4)?.text).toMatch(/already\s+exists\.\s+Nothing\s+was\s+written/)
}, 90_000)

test('where the file is there, nothing is asked', async () => {
  await writeFile(join(folder, 'work/testops-admin.yaml'), 'mine')
  const { exitCode, text } = await type(init, [])
  expect([exitCode, text.includes('?')]).toEqual([4, false])
  expect(await readFile(join(folder, 'work/testops-admin.yaml'), 'utf8')).toBe('mine')
}, 30_000)

test('a process called java without a unit is found, and what it does not show is asked for', async () => {
  const home = join(folder, 'service')
  await mkdir(home, { mode: 0o700 })
  const env = {
    PATH: process.env.PATH,
    ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: '3600',
    ALLURE_ENDPOINT: 'http://127.0.0.1:1',
    SPRING_DATASOURCE_URL: 'jdbc:postgresql://127.0.0.1:1/tms?sslmode=disable',
    SPRING_DATASOURCE_USERNAME: 'tms',
    SPRING_DATASOURCE_PASSWORD: 'hunter2',
    SPRING_DATA_REDIS_HOST: '127.0.0.1',
    SPRING_DATA_REDIS_PORT: '1',
    LOGGING_FILE_NAME: 'logs/testops.log',
    TZ: 'Asia/Tokyo',
  }
  // its settings tell what it is; a JVM is in the campaign
  const jvm = spawn('sleep', ['120'], { argv0: 'java', cwd: home, env, stdio: 'ignore' })
  try {
    await new Promise((resolve) => jvm.once('spawn', resolve))
    // other processes of the machine may be there, too
    const number = (shown: string): string =>
      `\u0015${new RegExp(`(\\d+) {2}testops\\S*: process ${jvm.pid} `).exec(shown)?.[1] ?? ''}\r`
    const { exitCode, text } = await type('testops-admin init --platform host', [
      [/Which deployment[^]*Which one/, number],
      [/Systemd unit of the service/, '\r'],
      [/Command that starts the service/, '/bin/true start\r'],
      [/Command that stops the service/, '/bin/true stop\r'],
      [/Command that exits with 0/, '/bin/true\r'],
      [/File with the service's settings/, '\r'],
      [/Name of the deployment/, '\u0015old-box\r'],
      [/Where is the database's password/, 'file:token\r'],
      [/Address of the broker, /, '\r'],
      [/Where is the API token/, '\r'],
    ])
    expect([exitCode, text.includes('hunter2')]).toEqual([3, false])
    const written = await readFile(join(folder, 'work/testops-admin.yaml'), 'utf8')
    expect(
      written
        .slice(written.indexOf('current:'))
        .replaceAll(/ +#.*$/gm, '')
        .replaceAll(folder, ''),
    ).toBe(`current: old-box
deployments:
  old-box:
    url: "http://127.0.0.1:1"
    platform: host
    host:
      commands:
        start: [/bin/true, start]
        stop: [/bin/true, stop]
        status: [/bin/true]
      logs:
        file: /service/logs/testops.log
    timeZone: Asia/Tokyo
    vendor:
      prefix: ALLURE
    database:
      url: "jdbc:postgresql://127.0.0.1:1/tms?sslmode=disable"
      user: tms
      password: {file: /work/token}
    sessions:
      url: "redis://127.0.0.1:1/0"
`)
  } finally {
    jvm.kill('SIGKILL')
  }
}, 120_000)
