import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { faultsOf } from '../output/schemas.ts'
import { processesWith } from '../support/processes.ts'
import { freshPlace } from './program.ts'
import type { Ended, Place } from './program.ts'

let place: Place
beforeEach(async () => {
  place = await freshPlace({ isApart: true })
})
afterEach(async () => place.remove())

/** Every part of the deployment at one address. */
function configuration(port: number, name = 'prod'): string {
  return `deployments:
  ${name}:
    url: http://127.0.0.1:${port}
    apiToken: {env: TOKEN}
    platform: host
    host: {commands: {start: ["true"], stop: ["true"], status: ["true"]}}
    database: {url: "postgresql://testops@127.0.0.1:${port}/testops"}
    broker: {url: "amqp://testops@127.0.0.1:${port}", managementUrl: "http://127.0.0.1:${port}"}
    sessions: {url: "redis://127.0.0.1:${port}/0"}
`
}

const environment = { TOKEN: 'never-shown' }
const sources = ['database/reachable', 'broker/reachable', 'sessions/reachable']

describe('a deployment of which nothing answers', () => {
  let port: number
  beforeAll(async () => {
    port = await closedPort()
  })

  test('has one problem a source, and exit code 1', async () => {
    await place.write('testops-admin.yaml', configuration(port))
    const ended = await place.run(['doctor', '--json'], { environment })
    const report = reportIn(ended)
    expect(ended).toMatchObject({ exitCode: 1, stderr: '' })
    expect(ended.milliseconds).toBeLessThan(8000)
    expect(report.rootCauses).toEqual(expect.arrayContaining(sources))
    const stray = report.checks.filter(
      ({ id, status, because }) => status === 'problem' && because === undefined && !id.endsWith('/reachable'),
    )
    expect(stray).toEqual([])
    expect(ended.stdout).not.toContain('never-shown')
  })

  test('is told as stories, in short, and by groups', async () => {
    await place.write('testops-admin.yaml', configuration(port))
    const [table, short, group] = await Promise.all([
      place.run(['doctor'], { environment }),
      place.run(['doctor', '--format', 'short'], { environment }),
      place.run(['doctor', '--only', 'broker', '--format=json'], { environment }),
    ])
    expect([table.exitCode, short.exitCode, group.exitCode]).toEqual([1, 1, 1])
    expect([table.stderr, short.stderr, group.stderr]).toEqual(['', '', ''])
    for (const id of sources) expect(table.stdout).toContain(`✖ error  ${id}\n`)
    expect(table.stdout).toMatch(/Exit code\s1\.\nNext: .+\n$/)
    const report = reportIn(group)
    expect(report.checks.every(({ id }) => id.startsWith('broker/'))).toBe(true)
    expect(report.rootCauses).toEqual(['broker/reachable'])
    expect(
      short.stdout
        .trimEnd()
        .split('\n')
        .every((line) => /^. (ok|error|warning|skipped|unknown) /.test(line)),
    ).toBe(true)
  })

  test('may be read no further than its first line', async () => {
    await place.write('testops-admin.yaml', configuration(port))
    const ended = await place.run(['doctor'], {
      environment,
      meanwhile: (child) => child.stdout?.once('data', () => child.stdout?.destroy()),
    })
    expect(ended).toMatchObject({ stderr: '', exitCode: 1 })
  })

  test('is waited for no longer than was asked', async () => {
    await place.write('testops-admin.yaml', configuration(port))
    const ended = await place.run(
      ['doctor', '--wait', '--wait-seconds', '2', '--interval', '1', '--only', 'broker', '--json'],
      {
        environment,
      },
    )
    expect(ended.exitCode).toBe(1)
    expect(reportIn(ended).rootCauses).toEqual(['broker/reachable'])
    expect(ended.stderr).toContain('1 problem: broker/reachable. Trying again in 1 s; giving up in')
    expect(ended.stderr.match(/Trying again/g)!.length).toBeLessThanOrEqual(2)
    expect(ended.milliseconds).toBeLessThan(30_000)
  })

  test('is watched until interrupted, with a line for what has changed', async () => {
    await place.write('testops-admin.yaml', configuration(port))
    const ended = await place.run(['doctor', '--watch', '--interval', '1', '--only', 'broker/reachable'], {
      environment,
      meanwhile: (child) => {
        let rounds = 0
        child.stdout?.on('data', () => (rounds += 1) === 2 && child.kill('SIGINT'))
      },
    })
    expect(ended).toMatchObject({ exitCode: 1, stderr: '' })
    expect(ended.stdout.replaceAll(/\d{4}-\S+ \S+Z/g, 'TIME').split('\n')).toEqual([
      'TIME 1 problem: broker/reachable.',
      expect.stringMatching(/^TIME {3}✖ error {4}broker\/reachable {2}RabbitMQ at /) as string,
      'TIME 1 problem: broker/reachable.',
      '',
    ])
  })
})

describe('parts that accept a connection and never answer', () => {
  let silent: Server
  const open = new Set<Socket>()
  beforeAll(async () => {
    silent = createServer((socket) => open.add(socket.on('error', () => undefined)))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => silent.close(resolve))
  })

  test('cost no more than the time-out, and are problems', async () => {
    await place.write('testops-admin.yaml', configuration((silent.address() as AddressInfo).port))
    const ended = await place.run(['doctor', '--timeout', '1', '--json'], { environment })
    expect(ended.exitCode).toBe(1)
    expect(reportIn(ended).rootCauses).toEqual(expect.arrayContaining(sources))
    expect(ended.milliseconds).toBeLessThan(8000)
  })

  test.each([
    ['a rejection that nobody handles', "void Promise.reject(new Error('unforeseen'))"],
    ['an exception outside of everything', "throw new Error('unforeseen')"],
  ])('%s meanwhile is a bug: 70, with its stack', async (_, statement) => {
    await place.write('testops-admin.yaml', configuration((silent.address() as AddressInfo).port))
    const preload = await place.write('preload.mjs', `setTimeout(() => { ${statement} }, 1000)`)
    const ended = await place.run(['doctor', '--timeout', '60', '--json'], {
      environment: { ...environment, NODE_OPTIONS: `--import=${preload}` },
    })
    expect(ended.exitCode).toBe(70)
    expect(ended.stderr).toMatch(/^Error: unforeseen\n +at .*preload\.mjs/)
    expect(JSON.parse(ended.stdout)).toEqual({
      error: { code: 'BUG', message: 'this is a bug in testops-admin: unforeseen', suggestions: [] },
    })
    expect(ended.milliseconds).toBeLessThan(6000)
  })

  test('waiting for what will never come is a bug, and no end without a word', async () => {
    await place.write('testops-admin.yaml', configuration((silent.address() as AddressInfo).port))
    // as where the last handle is gone, and a promise is left
    const preload = await place.write(
      'preload.mjs',
      "const { once } = process; process.once = (name, listener) => (name === 'beforeExit' ? " +
        'setTimeout(listener, 1000) : once.call(process, name, listener))',
    )
    const ended = await place.run(['doctor', '--timeout', '60', '--json'], {
      environment: { ...environment, NODE_OPTIONS: `--import=${preload}` },
    })
    expect(ended.exitCode).toBe(70)
    expect(JSON.parse(ended.stdout)).toEqual({
      error: {
        code: 'BUG',
        message: 'this is a bug in testops-admin: the program stopped before the command had finished',
        suggestions: [],
      },
    })
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s ends it at once, with 6', async (signal) => {
    await place.write('testops-admin.yaml', configuration((silent.address() as AddressInfo).port))
    let since = 0
    const ended = await place.run(['doctor', '--timeout', '60', '--json'], {
      environment,
      // once it asks, it is through its start, however long that took
      meanwhile: (child) =>
        silent.once('connection', () => setTimeout(() => ((since = performance.now()), child.kill(signal)), 300)),
    })
    expect(ended).toMatchObject({ exitCode: 6, stderr: '' })
    expect(faultsOf('error', JSON.parse(ended.stdout))).toEqual([])
    expect(JSON.parse(ended.stdout)).toMatchObject({ error: { code: 'INTERRUPTED' } })
    expect(performance.now() - since).toBeLessThan(6000)
  })
})

describe('a status command that neither answers nor ends', () => {
  test.each([
    ['SIGINT once', ['SIGINT'], 6],
    // two that come before the first is looked at are one
    ['SIGINT again and again', Array.from({ length: 100 }, () => 'SIGINT' as const), 130],
    ['a closed terminal', ['SIGHUP'], 6],
  ] as const)('%s: nothing of it is left running', async (_, signals, exitCode) => {
    const mark = `MARK_${randomBytes(8).toString('hex')}`
    const status = `[sh, -c, "trap '' TERM HUP INT; sleep 47.5; sleep 47.5"]`
    await place.write(
      'testops-admin.yaml',
      `deployments:\n  prod:\n    url: http://127.0.0.1:9\n    platform: host\n    host: {commands: {start: ` +
        `["true"], stop: ["true"], status: ${status}}}\n`,
    )
    let since = 0
    const ended = await place.run(['doctor', '--only', 'service', '--timeout', '60', '--json'], {
      environment: { [mark]: 'here' },
      async meanwhile(child) {
        while (!processesWith([mark]).some(({ command }) => command.startsWith('sleep 47.5'))) await sleep(50)
        since = performance.now()
        signals.forEach((signal, index) => setTimeout(() => child.kill(signal), 20 * index))
      },
    })
    expect(ended.exitCode).toBe(exitCode)
    expect(performance.now() - since).toBeLessThan(5000)
    // what was killed is listed until the system has come to it
    await expect.poll(() => processesWith([mark]), { timeout: 5000 }).toEqual([])
  })
})

describe('configurations that cannot be used: 64, the file and the line', () => {
  test.each<[what: string, text: string, words: string[], message: RegExp]>([
    ['an empty file', '', [], /testops-admin\.yaml/],
    ['broken YAML', 'deployments:\n  prod: {url: [\n', [], /testops-admin\.yaml:\d+/],
    ['an unknown key', 'deployments:\n  prod:\n    urll: http://127.0.0.1:9\n', [], /testops-admin\.yaml:3.*`?url`?/],
    ['a wrong type', 'deployments: 7\n', [], /testops-admin\.yaml:1/],
    [
      'a missing secret',
      'deployments:\n  prod:\n    url: http://127.0.0.1:9\n    apiToken: {env: NO_SUCH_VARIABLE}\n',
      [],
      /NO_SUCH_VARIABLE/,
    ],
    [
      'a secret whose command fails',
      'deployments:\n  prod:\n    url: http://127.0.0.1:9\n    broker: {password: {command: [sh, -c, "echo ' +
        'half; echo sealed >&2; exit 2"]}}\n',
      ['--only', 'api'],
      /^the secret at testops-admin\.yaml:4 is missing: .* exited with 2: sealed$/,
    ],
    [
      'a secret whose command waits',
      'deployments:\n  prod:\n    url: http://127.0.0.1:9\n    apiToken: {command: [sh, -c, "sleep 9; echo late"]}\n',
      ['--timeout', '1'],
      /^the secret at testops-admin\.yaml:4 is missing: .* did not finish within 1 s/,
    ],
    [
      'a secret of several lines',
      "deployments:\n  prod:\n    url: http://127.0.0.1:9\n    apiToken: {command: [printf, 'a\\nb\\n']}\n",
      [],
      /^the secret at testops-admin\.yaml:4 cannot be used: .* printed 2 lines, but a secret must be one line$/,
    ],
    [
      'an unknown deployment',
      'deployments:\n  prod:\n    url: http://127.0.0.1:9\n',
      ['-d', 'prd'],
      /no deployment `prd`.*`prod`/,
    ],
    [
      'a file that is not there',
      'deployments:\n  prod:\n    url: http://127.0.0.1:9\n',
      ['--config', 'nowhere.yaml'],
      /nowhere\.yaml/,
    ],
  ])('%s', async (_, text, words, message) => {
    await place.write('testops-admin.yaml', text)
    const [plain, json] = await Promise.all([
      place.run(['doctor', ...words]),
      place.run(['doctor', ...words, '--json']),
    ])
    expect({ stdout: plain.stdout, exitCode: plain.exitCode }).toEqual({ stdout: '', exitCode: 64 })
    expect(plain.stderr).toMatch(/^Error: /)
    expect({ stderr: json.stderr, exitCode: json.exitCode }).toEqual({ stderr: '', exitCode: 64 })
    expect(faultsOf('error', JSON.parse(json.stdout))).toEqual([])
    expect((JSON.parse(json.stdout) as { error: { message: string } }).error.message).toMatch(message)
  })

  test.each<[what: string, text: string, words: string[], next: () => string[]]>([
    ['a list', '- prod\n', [], () => ['testops-admin init --template configuration']],
    [
      'broken YAML',
      'deployments:\n  prod: {url: [\n',
      [],
      () => ['sed -n 1,3p testops-admin.yaml', 'testops-admin init --template configuration'],
    ],
    ['a folder', '{}', ['--config', '.'], () => ['testops-admin doctor --config testops-admin.yaml']],
    [
      'a file that is not there',
      '{}',
      ['--config', 'prod.yaml'],
      () => ['testops-admin init --template configuration > prod.yaml'],
    ],
  ])('%s: what to type next', async (_, text, words, next) => {
    await place.write('testops-admin.yaml', text)
    const { stdout, exitCode } = await place.run(['doctor', ...words, '--json'])
    expect(exitCode).toBe(64)
    const { error } = JSON.parse(stdout) as { error: { suggestions: string[] } }
    expect(error.suggestions.map((suggestion) => suggestion.split('   # ')[0])).toEqual(next())
  })

  test('an API token that can be none: its place, never its value', async () => {
    await place.write('testops-admin.yaml', configuration(9))
    const ended = await place.run(['doctor', '--json'], { environment: { TOKEN: 'ключ-от-всего' } })
    expect(ended).toMatchObject({ exitCode: 64, stderr: '' })
    expect(JSON.parse(ended.stdout)).toMatchObject({
      error: {
        code: 'SECRET_MISSING',
        message: expect.stringMatching(/^the secret at testops-admin\.yaml:4 .*TOKEN/) as string,
      },
    })
    expect(ended.stdout).not.toContain('ключ')
  })

  test("the service's settings that are not there: the file, the line, and what is not known without it", async () => {
    await place.write(
      'testops-admin.yaml',
      'deployments:\n  prod:\n    url: http://127.0.0.1:9\n    host: {environmentFile: none.env}\n',
    )
    const ended = await place.run(['doctor', '--only', 'database', 'integrations/debug-logging'])
    expect(ended).toMatchObject({ exitCode: 3, stderr: '' })
    expect(ended.stdout.replaceAll(/\s+/g, ' ')).toContain(
      "? unknown database/* Same for: integrations/debug-logging Could not be determined: the service's " +
        `settings in ${place.directory}/none.env (\`host.environmentFile\` at testops-admin.yaml:4) cannot be ` +
        'read: the file is missing',
    )
  })

  test('none at all, and no practice deployment', async () => {
    const [none, lab] = await Promise.all([place.run(['doctor']), place.run(['doctor', '-d', 'lab'])])
    expect([none.exitCode, lab.exitCode]).toEqual([64, 64])
    expect(none.stderr).toContain('Error: no configuration found')
    expect(lab.stderr).toContain('\n  testops-admin lab up\n')
  })

  test('the flags may come from the environment', async () => {
    const file = await place.write('elsewhere.yaml', configuration(await closedPort(), 'other'))
    const given = {
      TESTOPS_ADMIN_CONFIG: file,
      TESTOPS_ADMIN_DEPLOYMENT: 'other',
      TESTOPS_ADMIN_JSON: 'true',
      TESTOPS_ADMIN_TIMEOUT: '5',
    }
    const ended = await place.run(['doctor', '--only', 'sessions/reachable'], {
      environment: { ...environment, ...given },
    })
    expect(reportIn(ended)).toMatchObject({ deployment: 'other', rootCauses: ['sessions/reachable'] })
  })
})

function reportIn({ stdout }: Ended): DoctorReport {
  const report = JSON.parse(stdout) as DoctorReport
  expect(faultsOf('doctor', report)).toEqual([])
  return report
}

/** A port that nothing listens on: one that was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
