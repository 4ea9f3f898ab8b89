import { mkdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { FleetDocument } from '../../src/output/doctor/fleet.ts'
import { isExamined } from '../../src/output/doctor/fleet.ts'
import { faultsOf } from '../output/schemas.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

let place: Place
/** Accepts every connection, and never says a word. */
const held = new Set<Socket>()
const silent = createServer((socket) => void held.add(socket.on('error', () => undefined)))
let port: number

beforeEach(async () => {
  place = await freshPlace({ isApart: true })
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  port = (silent.address() as AddressInfo).port
})
afterEach(async () => {
  for (const socket of held) socket.destroy()
  await new Promise((resolve) => silent.close(resolve))
  await place.remove()
})

/** Of five: two that refuse the connection, one that hangs, one whose entry is wrong, one of which nothing is known. */
function entry(index: number): string {
  const name = `d${String(index).padStart(3, '0')}`
  const hanging =
    `url: "http://127.0.0.1:${port}", database: {url: "postgres://u@127.0.0.1:${port}/d"}, ` +
    `broker: {url: "amqp://u@127.0.0.1:${port}"}, sessions: {url: "redis://127.0.0.1:${port}"}`
  const kinds = [`url: "http://127.0.0.1:1"`, hanging, 'urll: x', `url: "http://127.0.0.1:2"`]
  return `  ${name}: {platform: host, ${kinds[index % 4]!}}\n`
}

test('200 deployments, of which 50 hang and 50 are wrong, are examined in one run within 300 MB', async () => {
  const all = Array.from({ length: 200 }, (_, index) => entry(index))
  await place.write('testops-admin.yaml', `deployments:\n${all.join('')}`)
  const measured = join(place.directory, 'peak')
  const hook = await place.write(
    'hook.cjs',
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(measured)}, ` +
      `String(process.resourceUsage().maxRSS)))`,
  )
  const { exitCode, stdout, stderr } = await place.run(['doctor', '--all', '--json', '--timeout', '1'], {
    environment: { NODE_OPTIONS: `--require ${hook}` },
  })
  expect([exitCode, stderr]).toEqual([1, ''])
  const document = JSON.parse(stdout) as FleetDocument
  expect(faultsOf('doctor-all', document)).toEqual([])
  expect(document.deployments.map(({ deployment }) => deployment)).toEqual(
    Array.from({ length: 200 }, (_, index) => `d${String(index).padStart(3, '0')}`),
  )
  const told = document.deployments.map((it) => (isExamined(it) ? it.rootCauses.join(' ') : `exit code ${it.exitCode}`))
  const count = (text: string): number => told.filter((it) => it === text).length
  expect(count('exit code 64')).toBe(50)
  expect(count('api/reachable')).toBe(100)
  expect(told.filter((it) => it.includes('database/reachable')).length).toBe(50)
  // kilobytes
  expect(Number(await readFile(measured, 'utf8')) / 1024).toBeLessThan(300)
}, 120_000)

test('what several deployments cannot have is refused', async () => {
  await place.write(
    'testops-admin.yaml',
    'deployments:\n  a: {url: "http://127.0.0.1:1"}\n  b: {url: "http://127.0.0.1:2"}\n',
  )
  for (const [words, message] of [
    [['--all', '-d', 'a'], '--all and --deployment cannot be combined'],
    [['--all', '--fix'], '--fix cannot also be provided when using --all'],
    [['-d', 'a', '-d', 'b', '--watch'], '--watch works on one deployment'],
    [['-d', 'a', '-d', 'b', '--fix', '--dry-run'], '--fix works on one deployment'],
    [['--all', '--format', 'junit'], '--format: junit describes one deployment'],
    [['--all', '--output', 'report.html'], '--output: html describes one deployment'],
    [['-d', 'a', '-d', 'c'], 'no deployment `c`'],
  ] as const) {
    const { exitCode, stdout, stderr } = await place.run(['doctor', ...words])
    expect({ words, exitCode, stdout, said: stderr.replace(/\s+/g, ' ').includes(message) }).toEqual({
      words,
      exitCode: 64,
      stdout: '',
      said: true,
    })
  }
})

test('the report of several is written to files, too, and one -d twice is one deployment', async () => {
  await place.write(
    'testops-admin.yaml',
    'deployments:\n  a: {url: "http://127.0.0.1:1"}\n  b: {url: "http://127.0.0.1:2"}\n',
  )
  const { exitCode } = await place.run([
    'doctor',
    '--all',
    '--output',
    'all.prom',
    '--output',
    'all.json',
    '--output',
    'all.txt',
  ])
  expect(exitCode).toBe(1)
  const written = async (name: string): Promise<string> => readFile(join(place.directory, name), 'utf8')
  expect(await written('all.prom')).toMatch(/^testops_admin_doctor_exit_code\{deployment="b"\} 1$/m)
  expect((JSON.parse(await written('all.json')) as FleetDocument).deployments.length).toBe(2)
  expect(await written('all.txt')).toContain('2 deployments: 2 with problems. Exit code 1.')
  const one = await place.run(['doctor', '-d', 'a', '-d', 'a', '--json'])
  expect(JSON.parse(one.stdout)).toMatchObject({ deployment: 'a' })
})

test('the last line says with which exit code it ends, also if a file cannot be written', async () => {
  const folder = join(place.directory, 'reports')
  await mkdir(join(place.directory, 'checks'))
  await place.write(
    'checks/removing.mjs',
    "import fs from 'node:fs'\nexport default {version: 1, title: 'it removes', " +
      "remedy: {text: 'Do it.', commands: []}, " +
      `run: () => (fs.rmSync(${JSON.stringify(folder)}, {recursive: true, force: true}), ` +
      "{status: 'ok', detail: 'fine'})}",
  )
  const own = '{url: "http://127.0.0.1:1", checks: [checks/removing.mjs]}'
  await place.write('testops-admin.yaml', `deployments:\n  a: ${own}\n  b: ${own}\n`)
  for (const [words, said] of [
    [['-d', 'a'], /^Healthy: 1 ok\. Exit code 69\.$/m],
    [['--all'], /^2 deployments: 2 healthy\. Exit code 69\.$/m],
    [['-d', 'a', '--format', 'markdown'], /Exit code 69\./],
    [['-d', 'a', '--format', 'html'], /<dd>69<\/dd>|>69</],
    // of the deployment, not of the command
    [['-d', 'a', '--format', 'prometheus'], /_exit_code\{deployment="a"\} 0$/m],
    [['--all', '--format', 'prometheus'], /_exit_code\{deployment="a"\} 0$/m],
    [['-d', 'a', '--json'], /^\{[^]*"own\/removing"[^]*\}\n$/],
    [['-d', 'a', '--format', 'json'], /^\{[^]*"own\/removing"[^]*\}\n$/],
    [['--all', '--json'], /^\{[^]*"own\/removing"[^]*\}\n$/],
  ] as const) {
    await mkdir(folder)
    const ended = await place.run(['doctor', ...words, '--only', 'own', '--output', 'reports/a.json'])
    expect([ended.exitCode, ended.stdout], ended.stderr).toEqual([69, expect.stringMatching(said)])
    expect(ended.stderr).toMatch(/^Error: \S+reports\/a\.json cannot be changed/)
    if (ended.stdout.startsWith('{')) expect(JSON.parse(ended.stdout)).not.toHaveProperty('error')
  }
})

describe('own checks of several deployments', () => {
  const check = (outcome: object): string =>
    "export default {version: 1, title: 'few rows wait', remedy: {text: 'Do it.', commands: []}, " +
    `run: () => (${JSON.stringify(outcome)})}`
  const isWrong = { status: 'problem', severity: 'error', findings: [{ message: '12 rows wait', evidence: [] }] }

  const configured = async (outcome: object, more = ''): Promise<void> => {
    await mkdir(join(place.directory, 'checks'), { recursive: true })
    await place.write('checks/outbox.mjs', check(outcome))
    await place.write(
      'testops-admin.yaml',
      'deployments:\n  a: {url: "http://127.0.0.1:1", checks: [checks/outbox.mjs]}\n' +
        `  b: {url: "http://127.0.0.1:1"}\n  c: {platform: host}\n${more}`,
    )
  }

  test('one that has none of them is not examined, and neither healthy nor a failure', async () => {
    await configured({ status: 'ok', detail: 'fine' })
    for (const words of [['--all'], ['-d', 'a', '-d', 'b']]) {
      const line = ['doctor', ...words, '--only', 'own/outbox']
      const text = await place.run([...line, '--output', 'own.prom'])
      expect([text.exitCode, text.stderr]).toEqual([0, ''])
      expect(text.stdout).toMatch(/^✔ ok +a +host\. Healthy: 1 ok\.$/m)
      expect(text.stdout).toMatch(/^- skipped +b +host\. Nothing was examined: it has none of these checks\.$/m)
      const { stdout } = await place.run([...line, '--json'])
      const document = JSON.parse(stdout) as FleetDocument
      expect(faultsOf('doctor-all', document)).toEqual([])
      expect(document.deployments.slice(0, 2)).toMatchObject([
        { deployment: 'a', summary: { ok: 1 }, checks: [{ id: 'own/outbox', status: 'ok' }] },
        { deployment: 'b', summary: { ok: 0, error: 0, skipped: 0, unknown: 0 }, checks: [], rootCauses: [] },
      ])
      const metrics = await readFile(join(place.directory, 'own.prom'), 'utf8')
      expect(metrics).toMatch(/^testops_admin_doctor_exit_code\{deployment="a"\} 0$/m)
      expect(metrics).not.toMatch(/exit_code\{deployment="b"\}/)
    }
  })

  test('a problem of the one that has them counts', async () => {
    await configured(isWrong)
    const { exitCode, stdout } = await place.run(['doctor', '-d', 'b', '-d', 'a', '--only', 'own'])
    expect(exitCode).toBe(1)
    expect(stdout).toContain('2 deployments: 1 with problems, 1 with nothing examined. Exit code 1.')
  })

  test.each([
    ['a name that none has', ['--all', '--only', 'own/outbx'], 'no check `own/outbx`; did you mean `own/outbox`?'],
    ['beside others', ['--all', '--only', 'broker,own/outbx'], 'no check `own/outbx`; did you mean `own/outbox`?'],
    ['to be skipped', ['--all', '--skip', 'own/outbx'], 'no check `own/outbx`; did you mean `own/outbox`?'],
    [
      'of two without own checks',
      ['-d', 'b', '-d', 'c', '--only', 'own/outbox'],
      'no check `own/outbox`: none of these deployments has own checks',
    ],
    [
      'of one without own checks',
      ['-d', 'b', '--only', 'own/outbox', '--format', 'junit'],
      'no check `own/outbox`: this deployment has no own checks',
    ],
  ])('a misspelt name is refused before anything is examined: %s', async (_, words, message) => {
    await configured(isWrong)
    const { exitCode, stdout } = await place.run(['doctor', ...words, '--json'])
    expect([exitCode, (JSON.parse(stdout) as { error: object }).error]).toMatchObject([64, { code: 'USAGE', message }])
  })

  test('where an entry is wrong, that is said, and the others are examined', async () => {
    await configured({ status: 'ok', detail: 'fine' }, '  d: {urll: x}\n')
    const { exitCode, stdout } = await place.run(['doctor', '--all', '--only', 'own/other', '--json'])
    expect(exitCode).toBe(64)
    expect((JSON.parse(stdout) as FleetDocument).deployments.map((it) => isExamined(it) && it.checks.length)).toEqual([
      0,
      0,
      0,
      false,
    ])
  })
})
