import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { examineAs } from '../../../src/cli/doctor/examine-as.ts'
import type { DoctorFlags } from '../../../src/cli/doctor/examine-as.ts'
import { defineCheck } from '../../../src/core/check.ts'
import type { Check, Outcome } from '../../../src/core/check.ts'
import { Terminal } from './terminal.ts'

/** Checks that end one after the other, in this order, each as it is told. */
function checksEnding(outcomes: Readonly<Record<string, Outcome>>, pauseMs = 5): Check[] {
  let before: Promise<unknown> = Promise.resolve()
  return Object.entries(outcomes).map(([id, outcome]) => {
    const turn = before
    let done: () => void = () => undefined
    before = new Promise<void>((resolve) => (done = resolve))
    return defineCheck({
      id,
      title: `${id} is well`,
      reads: [],
      remedy: { text: 'Look at it.', commands: [`testops-admin explain ${id}`] },
      async run() {
        await turn
        await sleep(pauseMs)
        setImmediate(done)
        return outcome
      },
    })
  })
}

const ok = (detail: string): Outcome => ({ status: 'ok', detail })
const broken: Outcome = {
  status: 'problem',
  severity: 'error',
  findings: [{ message: 'the disk is full', evidence: ['df -h'] }],
}

const flags: DoctorFlags = {
  deployment: 'prod',
  json: false,
  verbose: false,
  format: 'table',
  'fail-on': 'warning',
  wait: false,
  'wait-seconds': 1,
  watch: false,
  interval: 1,
}

let config: string
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  config = join(folder, 'testops-admin.yaml')
  await writeFile(config, `deployments:\n  prod:\n    url: http://127.0.0.1:${await closedPort()}\n`)
  vi.stubEnv('NO_COLOR', '')
  vi.stubEnv('TERM', 'xterm')
})
afterEach(() => vi.unstubAllEnvs())

const three = (): Check[] =>
  checksEnding({
    'database/reachable': ok('PostgreSQL 15 answers testops after a while that takes more than one line'),
    'database/disk': broken,
    'broker/reachable': ok('RabbitMQ 4.3 answers'),
  })

describe('the live list on a terminal', () => {
  test('shows results as they come, then gives way to the report', async () => {
    const terminal = new Terminal(60, 24)
    expect(await examineAs({ ...flags, config }, three(), terminal)).toBe(1)
    expect(terminal.seen.slice(0, 4)).toEqual([
      [
        '✔ ok       database/reachable  PostgreSQL 15 answers testo…',
        '… 2 checks running: database/disk, broker/reachable',
      ],
      [
        '✔ ok       database/reachable  PostgreSQL 15 answers testo…',
        '✖ error    database/disk       the disk is full',
        '… 1 check running: broker/reachable',
      ],
      [
        '✔ ok       database/reachable  PostgreSQL 15 answers testo…',
        '✖ error    database/disk       the disk is full',
        '✔ ok       broker/reachable    RabbitMQ 4.3 answers',
      ],
      [],
    ])
    expect(terminal.screen.join('\n').replace(/\d+\.\d s/, 'N s')).toBe(`prod (host): 3 checks in N s

✖ error  database/disk
  the disk is full
      df -h
  No change is known in the last 24 hours.
  Repair: Look at it.
      testops-admin explain database/disk

2 other checks are ok (--verbose lists them).

1 problem: database/disk. Exit code 1.
Next: testops-admin explain database/disk`)
  })

  test.each([
    [40, 5],
    [40, 24],
    [132, 8],
  ])('neither wraps nor scrolls while it is shown: %i columns, %i rows', async (columns, rows) => {
    const terminal = new Terminal(columns, rows)
    const ids = Array.from({ length: 12 }, (_, index) => `integrations/number-${index + 10}`)
    const checks = checksEnding(
      Object.fromEntries(ids.map((id) => [id, ok('a detail that is much longer than one row of it'.repeat(3))])),
    )
    await examineAs({ ...flags, config, format: 'short' }, checks, terminal)
    const live = terminal.seen.slice(0, -1)
    expect(live).toHaveLength(13)
    expect(Math.max(...live.map((lines) => lines.length))).toBeLessThan(rows)
    expect(live.every((lines, index) => index === 0 || index === 12 || lines[0] === live[0]?.[0])).toBe(true)
    expect(live.at(-1)).toEqual([])
    // short lines are for logs: only they are broken, by the terminal, and only they scroll
    const all = [...terminal.scrolled, ...terminal.screen].join('')
    for (const id of ids) expect(all.split(id).length - 1).toBe(1)
  })

  test.each<
    [
      what: string,
      change: (terminal: Terminal) => void,
      environment: Record<string, string>,
      more: Partial<DoctorFlags>,
    ]
  >([
    ['standard output is a file', ({ stdout }) => delete (stdout as { isTTY?: boolean }).isTTY, {}, {}],
    ['standard error is a file', ({ stderr }) => delete (stderr as { isTTY?: boolean }).isTTY, {}, {}],
    ['colours are not wanted', () => undefined, { NO_COLOR: '1' }, {}],
    ['the terminal is dumb', () => undefined, { TERM: 'dumb' }, {}],
    ['a document is wanted', () => undefined, {}, { format: 'json' }],
  ])('is left out where %s', async (_, change, environment, more) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    const terminal = new Terminal(200, 60)
    change(terminal)
    await examineAs({ ...flags, config, ...more }, three(), terminal)
    expect(terminal.seen).toHaveLength(1)
  })
})

describe('a watch on a terminal', () => {
  test('draws each round over the last, until Ctrl-C; ends with the exit code of the last report', async () => {
    const terminal = new Terminal(80, 24)
    const outcomes = [ok('well'), broken, broken]
    let round = 0
    const check = defineCheck({
      id: 'database/disk',
      title: 'database has room',
      reads: [],
      remedy: { text: 'Make room.', commands: [] },
      run: async () => outcomes[Math.min(round++, 2)]!,
    })
    const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
    const listeners = names.map((name) => process.listenerCount(name))
    const watching = examineAs({ ...flags, config, watch: true, interval: 0.05 }, [check], terminal)
    await expect.poll(() => terminal.seen.length).toBeGreaterThan(2)
    process.emit('SIGINT', 'SIGINT')
    expect(await watching).toBe(1)
    // one is left, for who asks a second time
    expect(names.map((name) => process.listenerCount(name))).toEqual(listeners.map((count) => count + 1))
    for (const name of names) process.removeListener(name, process.listeners(name).at(-1)!)
    const [first, second] = terminal.seen.map((lines) => lines.join('\n').replace(/\d+\.\d s/, 'N s'))
    expect(first).toBe(`prod (host): 1 check in N s

✔ ok       database/disk  well

Healthy: 1 ok. Exit code 0.

Repeats every 0.05 s. Press Ctrl-C to stop.`)
    expect(second).toBe(`prod (host): 1 check in N s

✖ error  database/disk
  the disk is full
      df -h
  No change is known in the last 24 hours.
  Repair: Make room.

1 problem: database/disk. Exit code 1.
Next: testops-admin explain database/disk

Repeats every 0.05 s. Press Ctrl-C to stop.`)
    expect(terminal.scrolled).toEqual([])
  })
})

test('waiting says on standard error what is waited for, and only the last report on standard output', async () => {
  const terminal = new Terminal(100, 40)
  const said: string[] = []
  terminal.stderr.write = (text: unknown) => said.push(String(text)) > 0
  const check = defineCheck({
    id: 'database/disk',
    title: 'room',
    reads: [],
    remedy: { text: 'Make room.', commands: [] },
    run: async () => broken,
  })
  expect(await examineAs({ ...flags, config, wait: true, 'wait-seconds': 2, interval: 0.5 }, [check], terminal)).toBe(1)
  expect(said.length).toBeGreaterThan(0)
  expect(
    said.every((text) => /^1 problem: database\/disk\. Trying again in 1 s; giving up in [12] s\.\n$/.test(text)),
  ).toBe(true)
  expect(terminal.seen).toHaveLength(1)
})

async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
