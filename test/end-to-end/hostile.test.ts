import { execFile } from 'node:child_process'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventOf, recordOf, run } from '../engine/repairing.ts'
import { harmIn, poison } from '../hostile/poison.ts'
import { freshPlace, program } from './program.ts'
import type { Ended, Place } from './program.ts'

let place: Place
beforeEach(async () => {
  place = await freshPlace()
})
afterEach(async () => place.remove())

/** as much of the poison as an argument, and the name of a file, may hold */
const named = poison
  .replaceAll('\u0000', '')
  .replaceAll('/', '')
  .replace(/\p{Surrogate}/gu, '')

function assertCalm({ stdout, stderr }: Ended, what: string): void {
  // a word may come to a line of its own where the screen ends, behind the sign of the line's end
  for (const text of [stdout, stderr]) expect(harmIn(text.replaceAll('⏎\n', '⏎ ')), what).toBeNull()
}

/** A run of this machine that stopped half way, whose texts somebody else wrote. */
async function planted(): Promise<void> {
  const closed = await closedPort()
  await place.write(
    'testops-admin.yaml',
    `deployments: {prod: {url: "http://127.0.0.1:${closed}", platform: host, host: {commands: {start: ` +
      '["true"], stop: ["true"], status: ["true"]}}, database: {url: ' +
      `"postgresql://testops@127.0.0.1:${closed}/testops"}}}\n`,
  )
  const folder = join(place.directory, '.local/state/testops-admin/prod/runs')
  const record = recordOf()
  const hostile = {
    ...record,
    by: `op@bastion${poison}`,
    plan: {
      ...record.plan,
      notes: [poison],
      evidence: [poison],
      steps: record.plan.steps.map((step) => ({ ...step, title: `${step.title}${poison}` })),
    },
  }
  await mkdir(join(folder, run), { recursive: true, mode: 0o700 })
  await writeFile(join(folder, run, 'run.json'), JSON.stringify(hostile))
  const events = [
    eventOf({ event: 'intent', step: 0 }),
    eventOf({ event: 'done', step: 0, durationMs: 1 }),
    eventOf({ event: 'intent', step: 1 }),
  ]
  await writeFile(
    join(folder, run, 'journal.jsonl'),
    events.map((event) => `${JSON.stringify({ ...event, by: poison })}\n`).join(''),
  )
  await mkdir(join(folder, named.slice(0, 40)))
}

describe('a run of which somebody else wrote the texts', () => {
  test.each([
    ['history'],
    ['history', '--json'],
    ['resume', run],
    ['undo', run],
    ['resume', '--adopt', run],
    ['doctor'],
    ['doctor', '--json'],
    ['doctor', '--format', 'short'],
  ])('%s %s %s', async (...words) => {
    await planted()
    const ended = await place.run([...words.filter(Boolean), '-d', 'prod', '--timeout', '2'])
    assertCalm(ended, words.join(' '))
    expect(ended.exitCode).not.toBe(70)
    expect(ended.stdout + ended.stderr).toContain(
      words[0] === 'doctor' ? 'op@bastion' : words[0] === 'history' ? String.raw`op@bastion~` : '',
    )
  })

  test('what stands in front of the question, on a terminal', async () => {
    await planted()
    const inner = `${process.execPath} ${program} undo ${run} -d prod --timeout 2`
    // an answer of its own ends the question
    const { stdout } = await promisify(execFile)(
      'sh',
      ['-c', `(sleep 5; echo no) | timeout 40 script -qec '${inner}' /dev/null || true`],
      {
        cwd: place.directory,
        env: { PATH: process.env.PATH ?? '', HOME: place.directory, TERM: 'xterm', TZ: 'UTC' },
      },
    )
    // a line ends where the terminal does
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(String.raw`by op@bastion~\x1b[2J`)
    // what readline itself draws, and the ends of lines of a terminal
    const said = stdout
      .replaceAll('\r\n', '\n')
      .replace(/\u001b\[(?:\d*G|\d*[JK]|\?2004[hl])|\r|\u0004|\u0008|\^D/g, '')
    expect(harmIn(said.replaceAll('⏎\n', '⏎ '), true)).toBeNull()
  }, 60_000)
})

describe('an argument that would steer the terminal', () => {
  test.each<[what: string, words: readonly string[]]>([
    ['a command', [named]],
    ['a flag', ['doctor', `--${named}`]],
    ['a value of a flag', ['doctor', '--format', named]],
    ['a number', ['doctor', '--timeout', named]],
    ['a deployment', ['doctor', '-d', named]],
    ['a configuration', ['doctor', '--config', named]],
    ['a check', ['doctor', '--only', named]],
    ['a run', ['resume', named]],
    ['a run to adopt', ['resume', '--adopt', named]],
    ['a run to undo', ['undo', named]],
    ['a message', ['explain', named]],
    ['a log', ['scan-logs', named]],
    ['a directory', ['lint-results', named]],
    ['a file of a processor', ['check-cpu', '--file', named]],
    ['an address', ['check-integration', '--url', named]],
    ['a setting', ['set-env', `${named}=x`]],
    ['a plan', ['apply', named]],
    ['an argument too many', ['whoami', named]],
  ])('%s', async (what, words) => {
    for (const json of [[], ['--json']]) {
      const ended = await place.run([...words, ...json])
      assertCalm(ended, what)
      expect(ended.exitCode, ended.stderr).not.toBe(70)
      expect(ended.exitCode).not.toBe(0)
    }
  })
})

test('a name that is none is refused before anything is touched', async () => {
  await planted()
  const before = (await readdir(place.directory, { recursive: true })).sort()
  // all others are tried where the name is checked
  for (const name of ['', '.', '../../..', '/etc', '$(touch pwned)', `${run}/..`, run.toUpperCase()]) {
    for (const words of [
      ['resume', '--adopt', name],
      ['undo', name],
    ]) {
      const { exitCode, stderr } = await place.run([...words, '-d', 'prod'])
      expect([exitCode, name], stderr).toEqual([64, name])
      expect(stderr).toMatch(/is not the name of a\s+run|missing|expect/i)
    }
  }
  expect((await readdir(place.directory, { recursive: true })).sort()).toEqual(before)
}, 180_000)

describe('a file that would steer the terminal', () => {
  test('a log, by its name and by its lines', async () => {
    const file = await place.write(
      named.slice(0, 60),
      `2026-11-22 10:00:00.000 ERROR 1 --- [main] a.B : java.net.UnknownHostException: ${named}\n2026-11-22 ` +
        `10:00:01.000  INFO 1 --- [main] a.B : HTTP FAILED: ${named}\n`,
    )
    for (const words of [[], ['--json']]) assertCalm(await place.run(['scan-logs', file, ...words]), 'scan-logs')
  })

  test('results, in every format', async () => {
    await mkdir(join(place.directory, 'results'))
    const result = {
      uuid: poison,
      name: poison,
      fullName: poison,
      status: poison,
      labels: [{ name: poison, value: poison }],
      steps: [{ name: poison, attachments: [{ name: poison, source: `shots/${poison}`, type: poison }] }],
      parameters: [{ name: poison, value: poison }],
      [poison]: poison,
    }
    await place.write('results/a-result.json', JSON.stringify(result))
    await place.write(`results/${named.slice(0, 50)}-result.json`, JSON.stringify(result).slice(0, 300))
    for (const words of [
      ['--format', 'table'],
      ['--format', 'junit'],
      ['--format', 'sarif'],
      ['--format', 'markdown'],
      ['--format', 'json'],
      ['--ci'],
      ['--verbose'],
      ['--fix', '--output', 'mended'],
    ]) {
      const ended = await place.run(['lint-results', 'results', ...words])
      assertCalm(ended, words.join(' '))
      expect(ended.exitCode, ended.stderr).not.toBe(70)
    }
  })

  test('a processor', async () => {
    const file = await place.write(
      'cpuinfo',
      `model name : ${named}\nflags : ${named} hypervisor\nhypervisor vendor: ${named}\n`,
    )
    for (const words of [[], ['--json']])
      assertCalm(await place.run(['check-cpu', '--file', file, ...words]), 'check-cpu')
  })

  test('a configuration', async () => {
    const file = await place.write(
      'bad.yaml',
      `deployments: {${JSON.stringify(named)}: {platform: ${JSON.stringify(named)}, ` +
        `${JSON.stringify(`x${named}`)}: 1}}\n`,
    )
    for (const words of [[], ['--json']]) assertCalm(await place.run(['doctor', '--config', file, ...words]), 'doctor')
  })
})

async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
