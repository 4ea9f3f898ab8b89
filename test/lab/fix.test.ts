import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import type { FixDocument } from '../../src/cli/doctor/fix.ts'
import { faultsOf } from '../output/schemas.ts'
import { ownLab, sharedLab } from './support/own-lab.ts'

const timeoutMs = 180_000
const program = fileURLToPath(new URL('../../bin/run.js', import.meta.url))
const lab = sharedLab()
const fix = ['doctor', '-d', 'lab', '--fix'] as const

afterEach(async () => lab.must('lab', 'mend'), timeoutMs)

/** What came of `doctor --fix` with these repairs confirmed, as the document says it. */
async function fixed(repairs: string, ...more: string[]): Promise<Record<string, unknown>> {
  const { exitCode, document } = await lab.json<FixDocument>(...fix, '--confirm', 'lab', '--repairs', repairs, ...more)
  expect(faultsOf('doctor-fix', document)).toEqual([])
  const { before, after, error } = document
  return {
    exitCode,
    before: before.rootCauses,
    repairs: document.repairs.map(({ plan, outcome }) => `${plan.repair} ${outcome}`),
    after: after.rootCauses,
    ...(error && { error: error.message, next: error.suggestions[0] }),
  }
}

describe('a runbook', () => {
  test.each([
    ['stuck-lock/given-up', 'unlock-changelog', 'database/changelog-lock'],
    ['service-down', 'service-start', 'service/running'],
    ['transient-refused', 'reset-queues', 'broker/queues-durable'],
    ['stale-sessions/ahead', 'flush-sessions', 'sessions/clock'],
    ['debug-left-on', 'set-env', 'integrations/debug-logging'],
    ['trees-unmigrated', 'migrate-trees', 'trees/migrated'],
    ['unfinished-repair/here', 'resume', 'service/unfinished-repair'],
  ])(
    '%s is repaired by %s',
    async (fault, repair, root) => {
      await lab.must('lab', 'break', fault)
      expect(await fixed(repair, '--fix-warnings')).toMatchObject({
        exitCode: 0,
        before: [root],
        repairs: [expect.stringMatching(/ done$/)],
        after: [],
      })
    },
    timeoutMs,
  )

  test(
    'repairs one cause after another, and leaves warnings unless they are asked for',
    async () => {
      await lab.must('lab', 'break', 'durable-mismatch/setting-false', 'stale-sessions/ahead', 'debug-left-on')
      expect(await fixed('reset-queues,flush-sessions')).toEqual({
        exitCode: 2,
        before: ['broker/queues-durable', 'sessions/clock', 'integrations/debug-logging'],
        repairs: ['reset-queues done', 'flush-sessions done'],
        after: ['integrations/debug-logging'],
      })
      expect(await fixed('set-env', '--fix-warnings')).toMatchObject({ exitCode: 0, after: [] })
    },
    timeoutMs,
  )

  test(
    'carries out only what it names',
    async () => {
      await lab.must('lab', 'break', 'stuck-lock/given-up')
      expect(await fixed('service-start')).toEqual({
        exitCode: 4,
        before: ['database/changelog-lock'],
        repairs: [],
        after: ['database/changelog-lock'],
        error: '`database/changelog-lock` needs the repair unlock-changelog, which --repairs does not name',
        next: 'testops-admin doctor -d lab --fix --json --confirm lab --repairs service-start,unlock-changelog',
      })
    },
    timeoutMs,
  )

  test(
    'stops where a person is needed, and changes nothing',
    async () => {
      await lab.must('lab', 'break', 'clock-skew/far')
      expect(await fixed('flush-sessions', '--fix-warnings')).toEqual({
        exitCode: 4,
        before: ['service/clocks'],
        repairs: [],
        after: ['service/clocks'],
        error: expect.stringMatching(/^`service\/clocks` can only be repaired by hand\. \S/) as string,
        next: 'sudo timedatectl set-ntp true   # on this machine',
      })
    },
    timeoutMs,
  )

  test(
    'ends with the code of a repair that failed',
    async () => {
      await lab.must('lab', 'break', 'trees-unmigrated/damaged-path')
      expect(await fixed('migrate-trees', '--fix-warnings')).toMatchObject({
        exitCode: 1,
        repairs: ['migrate-trees failed'],
        after: ['trees/migrated'],
        error: '1 migration job failed: test-case-tree-migration: project 1, tree 2',
      })
    },
    timeoutMs,
  )

  test('another name than the deployment’s repairs nothing', async () => {
    await lab.must('lab', 'break', 'service-down')
    const { exitCode, document } = await lab.json<FixDocument>(
      ...fix,
      '--confirm',
      'prod',
      '--repairs',
      'service-start',
    )
    expect({ exitCode, error: document.error?.message }).toEqual({
      exitCode: 4,
      error: 'Nothing changed: --confirm names `prod`, but this is `lab`',
    })
    expect(document.error?.suggestions).toEqual([
      'testops-admin doctor -d lab --fix --json --confirm lab --repairs service-start',
    ])
  })
})

test('a healthy deployment has nothing to repair', async () => {
  const { exitCode, stdout } = await lab.run(...fix)
  expect([exitCode, stdout.split('\n').at(-2)]).toEqual([0, 'Nothing to repair.'])
})

test('--dry-run says that nothing is to be repaired, or only warnings, which it leaves', async () => {
  expect((await lab.run(...fix, '--dry-run')).stdout.split('\n').at(-2)).toBe('Nothing to repair.')
  await lab.must('lab', 'break', 'debug-left-on')
  const { stdout } = await lab.run(...fix, '--dry-run')
  const left = 'Warnings are left as they are: integrations/debug-logging (--fix-warnings repairs them too).'
  expect(stdout.replace(/\s+/g, ' ').trimEnd().endsWith(left)).toBe(true)
  expect(stdout).not.toContain('Plan:')
})

test(
  '--dry-run shows each plan and each step by hand, and changes nothing',
  async () => {
    await lab.must('lab', 'break', 'stale-sessions/ahead', 'service-down', 'image-version-mismatch')
    const history = async (): Promise<unknown> => (await lab.json('history', '-d', 'lab')).document
    const before = await history()
    const { exitCode, stdout, stderr } = await lab.run(...fix, '--dry-run', '--fix-warnings')
    const heads = stdout.match(/^(?:For .*|Plan: .*|Repair \S+ by hand|Nothing changed: .*)/gm)
    expect({ exitCode, heads, stderr }).toEqual({
      exitCode: 1,
      heads: [
        'For sessions/clock, flush-sessions:',
        'Plan: flush-sessions on deployment lab',
        'Nothing changed: this is only the plan.',
        'For service/running, service-start:',
        'Plan: service start on deployment lab',
        'Nothing changed: this is only the plan.',
        'Repair service/image by hand',
      ],
      stderr: '',
    })
    expect(await history()).toEqual(before)
  },
  timeoutMs,
)

describe('without --confirm', () => {
  test(
    'and without a terminal it says what to type',
    async () => {
      await lab.must('lab', 'break', 'service-down')
      const { exitCode, stdout, stderr } = await lab.run(...fix)
      expect(exitCode).toBe(4)
      expect(stdout).toMatch(
        /^Found: service\/running\. Repaired: nothing\. Took \d+ s\. Still wrong:\s+service\/running\.$/m,
      )
      expect(stderr).toContain('  testops-admin doctor -d lab --fix --confirm lab --repairs service-start\n')
    },
    timeoutMs,
  )

  test(
    'on a terminal each repair is asked for',
    async () => {
      await lab.must('lab', 'break', 'service-down', 'stale-sessions/ahead')
      const { exitCode, text } = await lab.type('testops-admin doctor -d lab --fix --fix-warnings', [
        [/Repairing sessions\/clock [^]*to confirm: /, 'lab\r'],
        [/Repairing service\/running [^]*to confirm: /, 'lab\r'],
      ])
      expect(exitCode, text).toBe(0)
      expect(text.replaceAll(/\s+/g, ' ')).toContain(
        'Found: sessions/clock, service/running. Repaired: sessions/clock (flush-sessions), service/running ' +
          '(service-start).',
      )
    },
    timeoutMs,
  )

  test(
    'another answer ends it, and nothing is changed',
    async () => {
      await lab.must('lab', 'break', 'service-down')
      const { exitCode, text } = await lab.type('testops-admin doctor -d lab --fix', [[/to confirm: /, 'no\r']])
      expect([exitCode, text], text).toEqual([
        4,
        expect.stringMatching(/^Found: service\/running\. Repaired: nothing\. /m),
      ])
    },
    timeoutMs,
  )

  test(
    'what is done by hand is waited for, and looked at again',
    async () => {
      await lab.must('lab', 'break', 'clock-skew/far')
      const { exitCode, text } = await lab.type('testops-admin doctor -d lab --fix', [
        [/Press Enter once that is done, s to skip it, Ctrl-C to stop: /, '\r'],
        [/by hand: [^]*Press Enter once that is done, s to skip it, Ctrl-C to stop: /, '\u0003'],
      ])
      expect(exitCode, text).toBe(4)
      expect(text.match(/^Repair service\/clocks by hand: /gm)).toHaveLength(2)
      expect(text).toMatch(/^Still wrong: service\/clocks \(checked at \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/m)
    },
    timeoutMs,
  )

  test(
    'what is to be done by hand can be skipped, and the next problem is repaired',
    async () => {
      await lab.must('lab', 'break', 'unknown-host', 'settings-not-applied')
      const { exitCode, text } = await lab.type('testops-admin doctor -d lab --fix --fix-warnings', [
        [/Repair integrations\/reachable by hand: [^]*s to skip it, Ctrl-C to stop: /, 's\r'],
        [/to confirm: /, 'lab\r'],
      ])
      expect([exitCode, text], text).toEqual([
        1,
        expect.stringMatching(/Repaired:\s+service\/settings\s+\(service-restart\)\.[^]*Still\s+wrong:\s+integrations/),
      ])
    },
    timeoutMs,
  )
})

describe('an unfinished repair', () => {
  test(
    'is resumed only after a question that shows what is left of it',
    async () => {
      await lab.must('lab', 'break', 'unfinished-repair/here')
      const refused = await lab.type('testops-admin doctor -d lab --fix', [[/to confirm: /, 'no\r']])
      expect([refused.exitCode, /^Plan: \S+/m.exec(refused.text)?.[0]], refused.text).toEqual([
        4,
        'Plan: unlock-changelog',
      ])
      const { exitCode, text } = await lab.type('testops-admin doctor -d lab --fix', [[/to confirm: /, 'lab\r']])
      expect([exitCode, text], text).toEqual([
        0,
        expect.stringContaining('Repaired: service/unfinished-repair (resume).'),
      ])
    },
    timeoutMs,
  )

  test(
    'is resumed and leaves the service to the problem that it hid, which is repaired next',
    async () => {
      await lab.must('lab', 'break', 'transient-refused', 'unfinished-repair/here')
      expect(await fixed('resume,reset-queues')).toEqual({
        exitCode: 0,
        before: ['service/unfinished-repair'],
        repairs: ['unlock-changelog done', 'reset-queues done'],
        after: [],
      })
    },
    timeoutMs,
  )

  test(
    'of another machine is left to a decision',
    async () => {
      await lab.must('lab', 'break', 'unfinished-repair/elsewhere')
      expect(await fixed('resume,unlock-changelog')).toMatchObject({
        exitCode: 4,
        repairs: [],
        after: ['service/unfinished-repair'],
        error: expect.stringMatching(/^the repair of `service\/unfinished-repair` needs your decision\. /) as string,
      })
    },
    timeoutMs,
  )
})

test(
  'Ctrl-C during a repair: the next diagnosis shows what is unfinished',
  async () => {
    await lab.must('lab', 'break', 'transient-refused')
    const { exitCode, text } = await lab.type(
      'testops-admin doctor -d lab --fix --confirm lab --repairs reset-queues',
      [[/waiting until the service answers/, '\u0003']],
    )
    expect([exitCode, text], text).toEqual([
      6,
      expect.stringMatching(/^Found: broker\/queues-durable\. Repaired: nothing\. /m),
    ])
    expect(text).toMatch(/Still wrong:\s+service\/unfinished-repair/)
    await lab.must('resume', '-d', 'lab')
  },
  timeoutMs,
)

test(
  'what was repaired by hand in the meantime is told',
  async () => {
    await lab.must('lab', 'break', 'image-version-mismatch')
    const { exitCode, text } = await lab.type('testops-admin doctor -d lab --fix --fix-warnings', [
      [
        /Press Enter once that is done, s to skip it, Ctrl-C to stop: /,
        () => {
          spawnSync(process.execPath, [program, 'lab', 'mend'], {
            env: { ...process.env, TESTOPS_ADMIN_LAB_DIR: lab.root, XDG_STATE_HOME: join(lab.root, '../state') },
          })
          return '\r'
        },
      ],
    ])
    expect([exitCode, text], text).toEqual([0, expect.stringContaining('Repaired: service/image (by hand).')])
  },
  timeoutMs,
)

test('a machine that may only read repairs nothing', async () => {
  const readOnly = await ownLab({ TESTOPS_ADMIN_READ_ONLY: '1' })
  const { exitCode, stderr } = await readOnly.run(...fix)
  expect([exitCode, stderr]).toEqual([4, expect.stringContaining('TESTOPS_ADMIN_READ_ONLY')])
  expect(await readOnly.end()).toEqual([])
})

test.each([
  [['--fix', '--watch'], /--watch/],
  [['--fix', '--wait'], /--wait/],
  [['--dry-run'], /--fix/],
  [['--fix', '--confirm', 'lab'], /--repairs/],
  [['--fix', '--confirm', 'lab', '--repairs', 'undo'], /undo/],
])('%j is wrong usage', async (words, said) => {
  const { exitCode, stderr } = await lab.run('doctor', '-d', 'lab', ...words)
  expect([exitCode, stderr]).toEqual([64, expect.stringMatching(said)])
})
