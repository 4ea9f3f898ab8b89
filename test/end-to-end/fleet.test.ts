import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
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
