import { expect, test } from 'vitest'
import type { PreflightDocument } from '../../src/output/preflight.ts'
import { faultsOf } from '../output/schemas.ts'
import { decisive } from '../support/campaign.ts'
import { sharedLab } from './support/own-lab.ts'

const timeoutMs = 120_000
const lab = sharedLab()
const asked = ['preflight', '-d', 'lab', '--to'] as const
const recent = ['--backup-taken', '1h'] as const

async function judged(...words: string[]): Promise<{ exitCode: number | null; verdict: string; told: string[] }> {
  const { exitCode, document } = await lab.json<PreflightDocument>(...asked, ...words)
  expect(faultsOf('preflight', document)).toEqual([])
  const { verdict, checks } = document
  const told = checks.flatMap(({ id, status, because }) =>
    (status === 'problem' || status === 'unknown') && because === undefined ? [id] : [],
  )
  return { exitCode, verdict, told }
}

test('a healthy deployment is ready, for the service and for the broker', async () => {
  expect(await judged('527u02', ...recent)).toEqual({ exitCode: 0, verdict: 'ready', told: [] })
  expect(await judged('5.28', '--broker', '99.0', ...recent)).toEqual({ exitCode: 0, verdict: 'ready', told: [] })
})

test('for the broker alone, the steps leave the service at its build', async () => {
  const words = [...asked, '527u01', '--broker', '99.0', ...recent] as const
  const { exitCode, document } = await lab.json<PreflightDocument>(...words)
  expect([exitCode, document.steps.map(({ text }) => text)]).toEqual([
    0,
    ['Upgrade RabbitMQ to 99.0, and wait until all is healthy.'],
  ])
})

test.each([
  ['527u01', '4.3', []],
  ['527u01', '3.13', ['broker/upgrade: Name a newer version of RabbitMQ, or none.']],
])('for %s with RabbitMQ %s, which is not newer, no step upgrades RabbitMQ', async (build, broker, steps) => {
  const { document } = await lab.json<PreflightDocument>(...asked, build, '--broker', broker, ...recent)
  expect(document.steps.map(({ text }) => text)).toEqual(steps)
})

test('of a version that nothing is documented of, every format says so', async () => {
  const [year, later] = await Promise.all(
    ['25.1', '999u99'].map(async (to) => ({
      ...(await lab.json<PreflightDocument>(...asked, to, ...recent)),
      text: (await lab.run(...asked, to, ...recent)).stdout.replaceAll(/\s+/g, ' '),
    })),
  )
  expect([year!.exitCode, year!.document.verdict, year!.document.remark]).toEqual([3, 'not-known', undefined])
  expect(year!.text).toContain('versions named after their year are not documented')
  expect([later!.exitCode, later!.document.verdict]).toEqual([0, 'ready'])
  expect(later!.document.remark).toMatch(
    /^527u01 is the newest documented build, so 999u99 is judged by what 527u01 needs\.$/,
  )
  expect(later!.text).toContain(`${later!.document.remark} Ready for 999u99.`)
})

test('without a backup it is not known, and the steps begin with one', async () => {
  expect(await judged('527u02')).toEqual({ exitCode: 3, verdict: 'not-known', told: ['backup'] })
  const { exitCode, stdout, stderr } = await lab.run(...asked, '527u02')
  expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: '' })
  expect(stdout).toMatch(
    /^Steps:\n {2}1\. backup: .*\n(?: .*\n)* {7}pg_dump -h \S+ -p \d+ -U \S+ -d \S+ -Fc -f testops\.dump/m,
  )
  expect(stdout).toMatch(/\nNot known whether it is ready for 527u02\. Exit code 3\.\n$/)
})

const inTheWay: readonly (readonly [string, readonly string[], number, string])[] = [
  ['stuck-lock/given-up', [], 1, 'database/changelog-lock'],
  ['stuck-lock/unnoticed', [], 2, 'database/changelog-lock'],
  ['live-lock', [], 1, 'database/changelog-lock'],
  ['cpu-without-v3', [], 1, 'service/cpu-level'],
  ['trees-unmigrated', [], 2, 'trees/migrated'],
  ['disk-full', [], 1, 'database/disk'],
  ['durable-mismatch/setting-false', [], 1, 'broker/queues-durable'],
  ['transient-ahead', ['--broker', '99.0'], 1, 'broker/upgrade'],
  ['unfinished-repair/here', [], 1, 'service/unfinished-repair'],
  ['service-down', [], 1, 'service/running'],
  ['broker-down', [], 1, 'broker/reachable'],
  ['database-down', [], 1, 'database/reachable'],
]

test.each(decisive(inTheWay, 6))(
  '%s stands in the way, and nothing else does',
  async (fault, more, exitCode, id) => {
    await lab.must('lab', 'break', fault)
    try {
      expect(await judged('527u02', ...recent, ...more)).toEqual({ exitCode, verdict: 'not-ready', told: [id] })
    } finally {
      await lab.must('lab', 'mend')
    }
  },
  timeoutMs,
)

test.each(decisive(['legacy-needless', 'token-refused', 'debug-left-on'], 1))(
  '%s stands in no way',
  async (fault) => {
    await lab.must('lab', 'break', fault)
    try {
      expect(await judged('527u02', ...recent)).toEqual({ exitCode: 0, verdict: 'ready', told: [] })
    } finally {
      await lab.must('lab', 'mend')
    }
  },
  timeoutMs,
)

test.each([
  [['latest'], /^--to latest is no version/],
  [['527u01'], /^the deployment is declared to run 527u01 already/],
  [['526u03'], /^526u03 is older than the present build 527u01/],
  [['527u02', '--broker', 'newest'], /^--broker newest is no version/],
  [['527u02', '--backup-taken', 'yesterday'], /^--backup-taken: invalid time/],
  [['527u02', '--backup-taken', '2999-01-01'], /^--backup-taken 2999-01-01 is in the future/],
  [['527u02', '--database-free', 'much'], /^--database-free much is no size/],
])('%j is refused before anything is said', async (words, message) => {
  const { exitCode, stdout } = await lab.run(...asked, ...words, '--json')
  expect(exitCode).toBe(64)
  expect(JSON.parse(stdout)).toEqual({
    error: {
      code: 'USAGE',
      message: expect.stringMatching(message) as string,
      suggestions: expect.any(Array) as string[],
    },
  })
})
