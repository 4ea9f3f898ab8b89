import { expect, test } from 'vitest'
import { stepsOf } from '../../../src/cli/doctor/fix-steps.ts'
import { withRights } from '../../../src/cli/doctor/rights.ts'
import type { RepairCommand } from '../../../src/cli/repair/repair-command.ts'
import type { DoctorReport } from '../../../src/core/check.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { OpenedDeployment } from '../../../src/runtime/index.ts'
import { flags, operator, wish } from '../repair/session.ts'

const missing = 'user op has no permission to patch deployments/scale'

function reportOf(command: string): DoctorReport {
  return {
    schemaVersion: 1,
    deployment: 'prod',
    platform: 'host',
    build: null,
    startedAt: '2026-11-28T00:00:00Z',
    durationMs: 1,
    summary: { ok: 0, warning: 0, error: 1, skipped: 0, unknown: 0 },
    rootCauses: ['database/changelog-lock'],
    checks: [
      {
        id: 'database/changelog-lock',
        title: '',
        status: 'problem',
        severity: 'error',
        findings: [{ message: 'm', evidence: [] }],
        remedy: { text: 'Release the lock.', commands: [command] },
        docs: 'd',
        durationMs: 0,
      },
    ],
  }
}

/** What is told beside the remedy, if asking for a right ends like this. */
async function lackedIf(
  askRights: () => Promise<void>,
  { command = 'testops-admin unlock-changelog -d prod', waitMs = 5000 } = {},
): Promise<{ lacks: string | undefined; planned: number; changes: unknown }> {
  const { session, deployment } = operator()
  const opened = {
    ...session.opened,
    control: {
      ...session.opened.control,
      service: async () => ({ ...(await session.opened.control.service()), askRights }),
    },
  } as OpenedDeployment
  let planned = 0
  const report = reportOf(command)
  expect(stepsOf(report, true)).toHaveLength(1)
  const commandOf = async (): Promise<RepairCommand> => {
    const fake: Pick<RepairCommand, 'perform' | 'repair'> = {
      perform: async () => Promise.reject(new Error('carried out')),
      repair: async () => {
        planned += 1
        return { result: await fake.perform(flags, wish), flags: { json: false } }
      },
    }
    return fake as RepairCommand
  }
  const { checks } = await withRights(report, opened, { commandOf, waitMs })
  return { lacks: checks[0]!.remedy!.lacks, planned, changes: deployment.changes }
}

const refused = async (code: 'FORBIDDEN' | 'UNREACHABLE' | 'INTERRUPTED'): Promise<void> => {
  throw new AdminError(code, missing)
}

test('a right that is missing stands beside the repair that needs it, and nothing is changed', async () => {
  expect(await lackedIf(async () => refused('FORBIDDEN'))).toEqual({ lacks: missing, planned: 1, changes: [] })
})

test.each([
  ['no right is missing', async () => undefined],
  ['it cannot be asked', async () => refused('UNREACHABLE')],
  ['asking breaks', async () => Promise.reject(new TypeError('bug'))],
])('where %s, nothing is told', async (_, askRights) => {
  expect(await lackedIf(askRights)).toMatchObject({ lacks: undefined, planned: 1 })
})

test('an answer that comes too late is not waited for', async () => {
  const never = async (): Promise<void> => new Promise(() => undefined)
  expect(await lackedIf(never, { waitMs: 20 })).toMatchObject({ lacks: undefined })
})

test('sessions are looked at, not counted, and no plan is made', async () => {
  const { session } = operator()
  const asked: unknown[] = []
  const opened = {
    ...session.opened,
    open: { sessions: async () => ({ sampleSessions: async () => ({ namespace: 'own:session', indexed: true }) }) },
    control: {
      sessions: async () => ({
        async assertRemovable(of: unknown) {
          asked.push(of)
          throw new AdminError('FORBIDDEN', 'user op may not run UNLINK')
        },
      }),
    },
  } as unknown as OpenedDeployment
  const commandOf = async (): Promise<RepairCommand> => Promise.reject(new Error('planned'))
  const { checks } = await withRights(reportOf('testops-admin flush-sessions -d prod --stale'), opened, {
    commandOf,
    waitMs: 5000,
  })
  expect([checks[0]!.remedy!.lacks, asked]).toEqual([
    'user op may not run UNLINK',
    [{ namespace: 'own:session', indexed: true, onlyAsks: true }],
  ])
})

test('a plan is made without waiting for what only time shows', async () => {
  const { session } = operator()
  let made: unknown
  const repair: typeof wish.repair = {
    ...wish.repair,
    plan: async (_, __, options) => {
      made = options
      throw new AdminError('REFUSED', 'not now')
    },
  }
  const fake: Pick<RepairCommand, 'perform' | 'repair'> = {
    perform: async () => Promise.reject(new Error('carried out')),
    repair: async () => ({ result: await fake.perform(flags, { ...wish, repair }), flags: { json: false } }),
  }
  const { checks } = await withRights(reportOf('testops-admin unlock-changelog -d prod'), session.opened, {
    commandOf: async () => fake as RepairCommand,
    waitMs: 5000,
  })
  expect([made, checks[0]!.remedy!.lacks]).toEqual([{ ...wish.options, waits: false }, undefined])
})

test('Ctrl-C ends the diagnosis', async () => {
  await expect(lackedIf(async () => refused('INTERRUPTED'))).rejects.toMatchObject({ code: 'INTERRUPTED' })
})

test.each([
  'testops-admin set-env A=b -d prod --values v.yaml --apply',
  'testops-admin explain stuck-lock',
  'testops-admin discard RUN-1 -d prod',
  'testops-admin migrate-trees -d prod --all-projects',
])('%s is not planned', async (command) => {
  expect(await lackedIf(async () => refused('FORBIDDEN'), { command })).toMatchObject({ lacks: undefined, planned: 0 })
})
