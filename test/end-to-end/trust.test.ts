import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { v3Flags } from '../fakes/index.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

/** What another user wrote; only root can make such, to anybody else it is what others may write. */
const isRoot = process.getuid?.() === 0
const nobody = 65534

let place: Place
let trap: string
beforeEach(async () => {
  place = await freshPlace({ isApart: true })
  trap = join(place.directory, 'executed')
  mkdirSync(join(place.directory, 'bin'))
})
afterEach(async () => place.remove())

/** A configuration every part of which would leave a trace if it were executed. */
function planted(): string {
  const command = JSON.stringify(['sh', '-c', `echo x >> ${trap}`])
  const text =
    `deployments:\n  prod:\n    url: http://127.0.0.1:1\n    apiToken: {command: ${command}}\n    platform: ` +
    `host\n    host: {commands: {start: ${command}, stop: ${command}, status: ${command}}, logs: {command: ` +
    `${command}}}\n    broker: {rabbitmqctl: ${command}}\n`
  const file = join(place.directory, 'testops-admin.yaml')
  writeFileSync(file, text)
  if (isRoot) for (const path of [file, place.directory]) chownSync(path, nobody, nobody)
  else chmodSync(file, 0o666)
  return file
}

/** A text that was broken into lines. */
function unwrapped(text: string): string {
  return text.replaceAll(/\s+/g, ' ')
}

describe('a configuration that another user wrote', () => {
  test.each([
    ['doctor'],
    ['doctor', '--json'],
    ['history'],
    ['unlock-changelog'],
    ['reset-queues', '--dry-run'],
    ['flush-sessions'],
    ['resume'],
    ['service', 'status'],
    ['service', 'restart'],
    ['scan-logs'],
    ['token'],
    ['whoami'],
    ['check-cpu'],
    ['check-integration'],
    ['set-env', 'A=b'],
    ['doctor', '-d', 'lab'],
    ['doctor', '--config', 'testops-admin.yaml'],
  ])('is refused by %s %s %s, and nothing of it is executed', async (...words) => {
    const file = planted()
    const { exitCode, stdout, stderr } = await place.run(words)
    expect({ exitCode, said: stdout + stderr }).toEqual({
      exitCode: 64,
      said: expect.stringContaining('is not trusted: ') as string,
    })
    expect(existsSync(trap)).toBe(false)
    expect(unwrapped(stdout + stderr)).toContain(`TESTOPS_ADMIN_TRUST=${file}`)
    expect(existsSync(join(place.directory, '.local'))).toBe(false)
  })

  test.each([
    [0, ['explain', 'broker']],
    [0, ['checks']],
    [0, ['checks', '--json']],
    [0, ['check-cpu', '--file', 'cpuinfo']],
    [
      [0, 1],
      ['check-cpu', '--here', '--json'],
    ],
    [1, ['lint-results', 'results']],
    [0, ['scan-logs', 'a.log']],
    [1, ['check-integration', '--url', 'http://127.0.0.1:1']],
  ])('is ignored with a note (%j) by %j', async (code, words) => {
    mkdirSync(join(place.directory, 'results'))
    writeFileSync(join(place.directory, 'a.log'), 'nothing\n')
    writeFileSync(join(place.directory, 'cpuinfo'), `processor : 0\nflags : ${v3Flags.join(' ')}\n`)
    planted()
    const { stdout, stderr, exitCode } = await place.run(words)
    expect([code].flat(), stdout).toContain(exitCode)
    expect(stderr.match(/^Ignored: the configuration .* is not trusted: .*$/gm)).toHaveLength(1)
    expect(stdout).not.toContain('Ignored')
    if (words.includes('--json')) JSON.parse(stdout)
    expect(existsSync(trap)).toBe(false)
  })

  test.each([['--version'], ['--help'], ['doctor', '--help']])('is nothing to %s %s', async (...words) => {
    planted()
    const { exitCode, stderr } = await place.run(words)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(existsSync(trap)).toBe(false)
  })

  test('is taken once it is trusted by name', async () => {
    const file = planted()
    const { exitCode } = await place.run(['whoami'], { environment: { TESTOPS_ADMIN_TRUST: file } })
    expect(exitCode).not.toBe(0)
    expect(existsSync(trap)).toBe(true)
  })
})

test('a pipe in place of a configuration is an error, and is not waited for', async () => {
  spawnSync('mkfifo', [join(place.directory, 'testops-admin.yaml')])
  const { exitCode, stderr, milliseconds } = await place.run(['doctor'])
  expect({ exitCode, said: unwrapped(stderr) }).toEqual({
    exitCode: 64,
    said: expect.stringContaining('it is a pipe, not a file') as string,
  })
  expect(milliseconds).toBeLessThan(20_000)
})

test(
  'a pipe that nobody writes to, in place of a secret, is waited for until the deadline; then the program has ' +
    'ended, too',
  async () => {
    const pipe = join(place.directory, 'pipe')
    spawnSync('mkfifo', [pipe])
    await place.write(
      'testops-admin.yaml',
      `deployments: {prod: {url: "http://127.0.0.1:1", apiToken: {file: ${pipe}}}}`,
    )
    const { exitCode, stderr } = await place.run(['whoami', '--timeout', '1'])
    expect({ exitCode, said: unwrapped(stderr) }).toEqual({
      exitCode: 64,
      said: expect.stringContaining(`the file ${pipe} returned nothing within 1 s`) as string,
    })
  },
)

describe('a state folder that others may write', () => {
  const configuration =
    'deployments:\n  prod:\n    database: {url: "postgresql://127.0.0.1:1/x"}\n    host: {commands: {start: ' +
    '["true"], stop: ["true"], status: ["true"]}}\n'

  test('is neither read nor written: history is refused (4), doctor cannot tell', async () => {
    await place.write('testops-admin.yaml', configuration)
    const runs = join(place.directory, 'state/testops-admin/prod/runs')
    const run = join(runs, '20261121T021244Z-unlock-changelog-1f3a')
    mkdirSync(run, { recursive: true })
    writeFileSync(join(run, 'run.json'), 'planted')
    chmodSync(join(place.directory, 'state'), 0o777)
    const environment = { XDG_STATE_HOME: join(place.directory, 'state') }
    const history = await place.run(['history', '--json'], { environment })
    expect(history.exitCode).toBe(4)
    expect(JSON.parse(history.stdout)).toMatchObject({
      error: {
        code: 'REFUSED',
        message:
          `the state folder ${runs} is not trusted: every user can write to its folder ${place.directory}/state ` +
          '(mode 0777)',
        suggestions: [`chmod go-w ${place.directory}/state`, expect.stringContaining('XDG_STATE_HOME') as string],
      },
    })
    const doctor = JSON.parse(
      (await place.run(['doctor', '--json', '--only', 'service/unfinished-repair'], { environment })).stdout,
    ) as { checks: { status: string; error?: { code: string; message: string } }[] }
    expect(doctor.checks[0]).toMatchObject({
      status: 'unknown',
      error: { code: 'REFUSED', message: expect.stringContaining('is not trusted') as string },
    })
    expect(readdirSync(run)).toEqual(['run.json'])
    expect(readFileSync(join(run, 'run.json'), 'utf8')).toBe('planted')
  })

  test('the lab stays out of one, too', async () => {
    const lab = join(place.directory, 'lab')
    mkdirSync(lab)
    chmodSync(lab, 0o777)
    const { exitCode, stderr } = await place.run(['lab', 'status'], { environment: { TESTOPS_ADMIN_LAB_DIR: lab } })
    expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: expect.stringContaining("the lab's folder") as string })
    expect(readdirSync(lab)).toEqual([])
  })
})

test('a program of the folder that this is called in is not run, though PATH has an empty part', async () => {
  await place.write(
    'testops-admin.yaml',
    'deployments: {prod: {url: "http://127.0.0.1:1", apiToken: {command: [planted-program]}}}',
  )
  writeFileSync(join(place.directory, 'planted-program'), `#!/bin/sh\necho x >> ${trap}\n`, { mode: 0o755 })
  for (const path of [':/usr/bin:/bin', '.:/usr/bin:/bin', '/usr/bin::/bin', '.', '', 'bin:']) {
    const { stderr } = await place.run(['whoami'], { environment: { PATH: path } })
    expect(unwrapped(stderr)).toContain('planted-program is not installed')
  }
  expect(existsSync(trap)).toBe(false)
})

test("plugins that the user's data folder names are not loaded", async () => {
  const data = join(place.directory, 'data/testops-admin')
  mkdirSync(join(data, 'node_modules/plugin/commands'), { recursive: true })
  writeFileSync(
    join(data, 'package.json'),
    JSON.stringify({
      name: 'x',
      oclif: { plugins: [{ name: 'plugin', type: 'user', root: join(data, 'node_modules/plugin') }] },
      dependencies: { plugin: '*' },
    }),
  )
  writeFileSync(
    join(data, 'node_modules/plugin/package.json'),
    JSON.stringify({
      name: 'plugin',
      version: '1.0.0',
      main: 'index.js',
      oclif: { hooks: { init: './commands/x.js', prerun: './commands/x.js' }, commands: './commands' },
    }),
  )
  writeFileSync(
    join(data, 'node_modules/plugin/commands/x.js'),
    `require('node:fs').appendFileSync(${JSON.stringify(trap)}, 'x'); module.exports = class {}\n`,
  )
  await place.run(['checks'], { environment: { XDG_DATA_HOME: join(place.directory, 'data') } })
  expect(existsSync(trap)).toBe(false)
})

test('compiled code in a folder that others may write is not taken', async () => {
  const environment = { XDG_CACHE_HOME: join(place.directory, 'cache') }
  await place.run(['checks'], { environment })
  const compiled = join(place.directory, 'cache/testops-admin/compiled')
  const [name = ''] = readdirSync(compiled)
  const before = statSync(join(compiled, name)).mtimeMs
  await place.run(['checks'], { environment })
  expect(statSync(join(compiled, name)).mtimeMs).toBe(before)
  chmodSync(join(place.directory, 'cache'), 0o777)
  await place.run(['checks'], { environment })
  // it was compiled anew, and kept anew
  expect(statSync(join(compiled, name)).mtimeMs).not.toBe(before)
})
