import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { ownLab } from '../lab/support/own-lab.ts'
import type { OwnLab } from '../lab/support/own-lab.ts'
import { decisive } from '../support/campaign.ts'
import { bareRoot } from './bare-root.ts'
import type { BareRoot } from './bare-root.ts'
import { ended, oneFile, packageProgram } from './made.ts'
import type { Ended } from './made.ts'

let program: string
let root: BareRoot
let lab: OwnLab
beforeAll(async () => {
  program = await oneFile()
  // the lab's service is shown by a script of its
  root = await bareRoot({ withShell: true })
  // its configuration names the one file: that starts the service, inside the root as outside
  lab = await ownLab({}, [program])
  await lab.must('lab', 'up')
}, 300_000)
afterAll(async () => {
  await root.remove()
  expect(await lab.end()).toEqual([])
}, 180_000)
afterEach(async () => {
  await lab.must('lab', 'mend')
}, 60_000)

const surroundings = (): Record<string, string> => ({
  TESTOPS_ADMIN_LAB_DIR: lab.root,
  XDG_STATE_HOME: join(dirname(lab.root), 'state'),
  PATH: '/bin',
  NODE_OPTIONS: '--require /nonexistent.js',
})

async function inRoot(...words: string[]): Promise<Ended> {
  return root.run([program, ...words], { environment: surroundings(), shown: [dirname(lab.root)] })
}

async function asPackage(...words: string[]): Promise<Ended> {
  const { NODE_OPTIONS: _, ...env } = surroundings()
  return ended([...packageProgram, ...words], { cwd: '/', env: { ...env, PATH: process.env['PATH'] } })
}

/** Returns what does not differ each time, as times, processes and numbers that grow by themselves do. */
function steady({ stdout, exitCode }: Ended): { document: unknown; exitCode: number | null } {
  const text = stdout
    .replaceAll(/"(startedAt|durationMs|pid)": ("[^"]*"|[\d.]+)/g, '"$1": 0')
    .replaceAll(/\d{8}T\d{6}Z-([a-z-]+)-[0-9a-f]{4}/g, 'RUN-$1')
    .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+/g, 'TIME')
    .replaceAll(/\b[\d.]+ (ms|s|min|h)\b(?: \d+ (?:s|min)\b)?/g, 'TIME')
    .replaceAll(/\b(process|session|INFO|WARN|ERROR) +\d+/g, '$1 N')
    .replaceAll(/\b1[78]\d{8}\b/g, 'SECONDS')
  const grows = ['asOf', 'detail', 'events', 'expectedMs', 'hash', 'newestJob', 'salt']
  return { document: JSON.parse(text, (key, value: unknown) => (grows.includes(key) ? 0 : value)) as unknown, exitCode }
}

const repairs = [
  { fault: 'transient-refused', repair: 'reset-queues', rootCause: 'broker/queues-durable', exitCode: 1 },
  { fault: 'stuck-lock', repair: 'unlock-changelog', rootCause: 'database/changelog-lock', exitCode: 1 },
  { fault: 'stale-sessions', repair: 'flush-sessions', rootCause: 'sessions/clock', exitCode: 1 },
  { fault: 'settings-not-applied', repair: 'service restart', rootCause: 'service/settings', exitCode: 2 },
  {
    fault: 'debug-left-on',
    repair: 'set-env --integration-debug off',
    rootCause: 'integrations/debug-logging',
    exitCode: 2,
  },
  {
    fault: 'trees-unmigrated/canceled',
    repair: 'migrate-trees --all-projects --wait',
    rootCause: 'trees/migrated',
    exitCode: 2,
  },
]

test.each(decisive(repairs, 1))(
  '$repair from one file in a bare root does what the package does',
  async ({ fault, repair, rootCause, ...expected }) => {
    const words = repair.split(' ')
    const both = async (...all: string[]): Promise<Ended> => {
      const [there, here] = [await asPackage(...all), await inRoot(...all)]
      expect(steady(here)).toEqual(steady(there))
      return here
    }
    await lab.must('lab', 'break', fault)
    const { stdout, exitCode } = await both('doctor', '-d', 'lab', '--json')
    expect((JSON.parse(stdout) as { rootCauses: string[] }).rootCauses).toEqual([rootCause])
    expect(exitCode).toBe(expected.exitCode)
    await both(...words, '-d', 'lab', '--dry-run', '--json')

    const repaired = await inRoot(...words, '-d', 'lab', '--confirm', 'lab', '--json')
    expect([repaired.exitCode, (JSON.parse(repaired.stdout) as { outcome: string }).outcome]).toEqual([0, 'done'])
    expect((await both('doctor', '-d', 'lab', '--json')).exitCode).toBe(0)

    await lab.must('lab', 'mend')
    await lab.must('lab', 'break', fault)
    const before = await asPackage(...words, '-d', 'lab', '--confirm', 'lab', '--json')
    expect(steady(repaired)).toEqual(steady(before))
  },
  180_000,
)
