import { open } from 'node:fs/promises'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { bareRoot } from './bare-root.ts'
import type { BareRoot } from './bare-root.ts'
import { arch, ended, oneFile, packageProgram } from './made.ts'
import type { Ended } from './made.ts'

/** What would keep Node from starting, if it were read. */
const hostile = { NODE_OPTIONS: '--require /nonexistent.js' }

let program: string
let root: BareRoot
let inputs: string
beforeAll(async () => {
  program = await oneFile()
  root = await bareRoot()
  inputs = await mkdtemp(join(tmpdir(), 'testops-admin-inputs-'))
  await chmod(inputs, 0o755)
  const log = await open(join(inputs, 'service.log'), 'w')
  const line =
    '2026-11-21 02:13:19.148  INFO 4711 --- [           main] liquibase.lockservice                    : ' +
    'Waiting for changelog lock....\n'
  for (let megabyte = 0; megabyte < 100; megabyte += 1) await log.write(line.repeat(Math.ceil(2 ** 20 / line.length)))
  await log.close()
  await mkdir(join(inputs, 'results'))
  for (let number = 0; number < 2500; number += 1)
    await writeFile(
      join(inputs, 'results', `${number}-result.json`),
      JSON.stringify({ uuid: `${number}`, name: `t${number % 2400}`, status: number % 7 ? 'passed' : 'none' }),
    )
  await writeFile(
    join(inputs, 'testops-admin.yaml'),
    'deployments:\n  prod:\n    url: http://127.0.0.1:1\n    database: {url: "postgresql://t@127.0.0.1:1/t"}\n' +
      '    broker: {url: "amqp://t@127.0.0.1:1/"}\n    sessions: {url: "redis://127.0.0.1:1/0"}\n' +
      '  nameless: {database: {url: "postgresql://127.0.0.1:1/t"}}\n' +
      '  own: {url: "http://127.0.0.1:1", checks: [checks/right.mjs, checks/torn.mjs, checks/large.mjs]}\n',
  )
  await mkdir(join(inputs, 'checks'))
  const check = (run: string): string =>
    `export default { version: 1, title: 'x', remedy: { text: 'Look.', commands: [] },\n run: ${run} }\n`
  await writeFile(join(inputs, 'checks/right.mjs'), check("() => ({ status: 'ok', detail: 'all is well' })"))
  await writeFile(join(inputs, 'checks/torn.mjs'), check('() => { const x = ; }'))
  await writeFile(
    join(inputs, 'checks/large.mjs'),
    check('() => { const all = []; for (;;) all.push(new Array(10_000).fill(all.length)) }'),
  )
}, 180_000)
afterAll(async () => {
  await root.remove()
  await rm(inputs, { recursive: true, force: true })
})

async function inRoot(...words: string[]): Promise<Ended> {
  return root.run([program, ...words], { environment: hostile, shown: [inputs], isStranger: true })
}

/** What differs each time: times, and how long something took. */
function steady({ stdout, stderr, exitCode }: Ended): Ended {
  const plain = (text: string): string =>
    text
      .replaceAll(/"(startedAt|durationMs)": ("[^"]*"|[\d.]+)/g, '"$1": 0')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
  return { stdout: plain(stdout), stderr: plain(stderr), exitCode }
}

describe('in a root without Node, without /tmp and a home, read-only, as a user that the machine does not know', () => {
  test('the one file says its version, and what runs it', async () => {
    const { stdout, stderr, exitCode } = await inRoot('--version')
    expect(stdout).toMatch(new RegExp(`^testops-admin/${packageJson.version} linux-${arch} node-v22\\.\\d+\\.\\d+\n$`))
    expect([stderr, exitCode]).toEqual(['', 0])
  })

  test.each<[string, (at: string) => string[], number, string?]>([
    ['explains', () => ['explain', 'stuck-lock', '--json'], 0],
    ['scans a log of 100 MB with several threads', (at) => ['scan-logs', `${at}/service.log`, '--json'], 2],
    ['checks 2,500 results with several threads', (at) => ['lint-results', `${at}/results`, '--json'], 1],
    [
      'diagnoses servers that nobody serves',
      (at) => ['doctor', '-d', 'prod', '--config', `${at}/testops-admin.yaml`, '--json'],
      1,
    ],
    [
      "runs the operator's own checks, and says in which line one is wrong, and which one takes too much memory",
      (at) => [
        ...['doctor', '-d', 'own', '--only', 'own', '--config', `${at}/testops-admin.yaml`, '--json'],
        ...['--timeout', '60'],
      ],
      3,
      '128 MB',
    ],
    ['lists its checks', () => ['checks', '--json'], 0],
    ['prints its help', () => ['lab', '--help'], 0],
    ['prints the template', () => ['init', '--template', 'configuration'], 0],
    ['prints a check to start from', () => ['init', '--template', 'check'], 0],
    ['speaks Russian', () => ['explain', 'stuck-lock', '--lang', 'ru'], 0],
    ['completes words', () => ['completion', 'bash', '--line', '--', 'service', 'st'], 0],
    ['refuses what is no command', () => ['nonsense'], 64],
    ['takes the name of an own program for a flag, if it is none', () => ['--own-program=lab/none.js'], 64],
    ['takes the name of another part for a flag', () => ['--own-program=main.cjs'], 64],
    ['takes a way out of its parts for a flag', () => ['--own-program=lab/../main.cjs'], 64],
  ])('it %s, as the package does', async (_, words, exitCode, said = '') => {
    const [here, there] = await Promise.all([
      inRoot(...words(inputs)),
      ended([...packageProgram, ...words(inputs)], { cwd: '/', env: { PATH: process.env['PATH'] } }),
    ])
    expect(steady(here)).toEqual(steady(there))
    expect(here.exitCode).toBe(exitCode)
    expect(here.stdout).toContain(said)
  })

  test('it says that a database URL must name a user, where the machine has no name for its own', async () => {
    const words = ['-d', 'nameless', '--config', `${inputs}/testops-admin.yaml`, '--json']
    const { stdout, exitCode } = await inRoot('doctor', '--only', 'database', ...words)
    expect([exitCode, stdout]).toEqual([
      1,
      expect.stringMatching(/names no user, and this machine has no name for user ID \d+: write postgresql:/) as string,
    ])
  })

  test('it serves an AI assistant, for which it starts itself', async () => {
    const said = [
      { id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'explain', arguments: { query: 'stuck-lock' } } },
    ]
    const text = said.map((it) => `${JSON.stringify({ jsonrpc: '2.0', ...it })}\n`).join('')
    const { stdout, exitCode } = await root.run([program, 'mcp'], {
      environment: hostile,
      input: { text, until: '"id":2' },
    })
    expect(exitCode).toBe(0)
    expect(stdout).toContain('Fault: the change-log lock was left behind')
  })

  test('lab says what it lacks', async () => {
    const { stderr, exitCode } = await inRoot('lab', 'up')
    expect(stderr.replaceAll(/\s+/g, ' ')).toMatch(
      /^Error: cannot use the lab's folder \/nonexistent\S+: the file system is read-only/,
    )
    expect(exitCode).toBe(69)
  })
})

describe('the compiled program', () => {
  test('is kept in a home that the user can write, and taken the next time; nothing else is written', async () => {
    const home = await mkdtemp(join(tmpdir(), 'testops-admin-home-'))
    try {
      const explain = async (): Promise<number | null> =>
        (
          await root.run([program, 'explain', 'stuck-lock'], {
            environment: { HOME: home, TMPDIR: home },
            shown: [home],
          })
        ).exitCode
      expect(await explain()).toBe(0)
      const kept = (await readdir(home, { recursive: true })).sort()
      expect(kept.map((it) => it.replace(/-v22.*/, ''))).toEqual([
        '.cache',
        '.cache/testops-admin',
        '.cache/testops-admin/compiled',
        '.cache/testops-admin/compiled/explain',
      ])
      expect(await explain()).toBe(0)
      expect((await readdir(home, { recursive: true })).sort()).toEqual(kept)
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })

  test.each([
    ['that cannot be written', '/proc'],
    ['that is not there', '/gone'],
    ['with an empty name', ''],
  ])('is done without in a home %s', async (_, home) => {
    const { exitCode, stderr } = await root.run([program, 'completion', 'zsh'], { environment: { HOME: home } })
    expect([exitCode, stderr]).toEqual([0, ''])
  })
})

const clientInfo = { name: 'test', version: '1' }
