import { describe, expect, test } from 'vitest'
import { diagnosis } from '../../../src/cli/doctor/session.ts'
import type { DiagnosisOptions } from '../../../src/cli/doctor/session.ts'
import { waitUntilHealthy, watch } from '../../../src/cli/doctor/examine-as.ts'
import { defineCheck } from '../../../src/core/check.ts'
import type { Outcome } from '../../../src/core/check.ts'
import { AdminError } from '../../../src/core/error.ts'
import { healthy, stuckLock } from '../../output/reports.ts'

const never = new AbortController().signal

/** A deployment without any part, whose one check comes to the given outcomes, one after the other. */
function deploymentWith(outcomes: readonly (Outcome | AdminError)[]) {
  const seen = { opened: 0, renewed: 0, closed: 0, run: 0 }
  const check = defineCheck({
    id: 'database/sample',
    title: 'the sample is well',
    reads: [],
    remedy: { text: 'look', commands: [] },
    run: async () => {
      const outcome = outcomes[Math.min(seen.run++, outcomes.length - 1)]!
      if (outcome instanceof AdminError) throw outcome
      return outcome
    },
  })
  const missing = async (): Promise<never> => {
    throw new AdminError('NOT_CONFIGURED', 'not configured')
  }
  const open = async (): ReturnType<DiagnosisOptions['open']> => {
    seen.opened += 1
    return {
      deployment: {
        name: 'sample',
        platform: 'host',
        vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
        timeZone: null,
      },
      open: {
        database: missing,
        broker: missing,
        sessions: missing,
        service: missing,
        api: missing,
        accessLog: missing,
        files: missing,
        release: missing,
        logs: missing,
        network: missing,
        runs: missing,
      },
      commands: null,
      renew: () => void (seen.renewed += 1),
      close: async () => {
        seen.closed += 1
      },
    }
  }
  return { seen, examined: diagnosis({ checks: [check], open, deadlineMs: 1000, signal: never }) }
}

const fine: Outcome = { status: 'ok', detail: 'well' }
const broken: Outcome = { status: 'problem', severity: 'error', findings: [{ message: 'broken', evidence: [] }] }
const lost = new AdminError('UNREACHABLE', 'connection closed')

describe('diagnoses one after the other', () => {
  test('use the same connections, and ask anew for the settings that lead to them', async () => {
    const { seen, examined } = deploymentWith([fine, broken, fine])
    const statuses = []
    for (let round = 0; round < 3; round++) statuses.push((await examined.examine()).checks[0]?.status)
    await examined.close()
    expect(statuses).toEqual(['ok', 'problem', 'ok'])
    expect(seen).toEqual({ opened: 1, renewed: 2, closed: 1, run: 3 })
  })

  test('open anew where a connection was lost since the last time', async () => {
    const { seen, examined } = deploymentWith([fine, lost, fine])
    await examined.examine()
    expect((await examined.examine()).checks[0]?.status).toBe('ok')
    expect(seen).toEqual({ opened: 2, renewed: 1, closed: 1, run: 3 })
  })

  test('report what cannot be asked at the first time, or still not after opening anew', async () => {
    const { seen, examined } = deploymentWith([lost])
    expect((await examined.examine()).checks[0]?.status).toBe('unknown')
    expect((await examined.examine()).checks[0]?.status).toBe('unknown')
    expect(seen).toEqual({ opened: 2, renewed: 1, closed: 1, run: 3 })
  })

  test('say what build is declared, or that it is not known', async () => {
    const { examined } = deploymentWith([fine])
    expect((await examined.examine()).build).toBeNull()
  })
})

describe('waiting until healthy', () => {
  const options = {
    forMs: 1000,
    intervalMs: 1,
    isHealthy: (report: typeof healthy) => report.rootCauses.length === 0,
    signal: never,
  }

  test('ends with the first healthy report, and asks for rights only then', async () => {
    const said: string[] = []
    const reports = [stuckLock, stuckLock, healthy, stuckLock]
    const asked: (typeof healthy)[] = []
    const withRights = async (report: typeof healthy): Promise<typeof healthy> => {
      asked.push(report)
      return report
    }
    const last = await waitUntilHealthy(
      { ...inTurn(reports), withRights },
      { ...options, progress: (message) => said.push(message) },
    )
    expect(last).toBe(healthy)
    expect(asked).toEqual([healthy])
    expect(said).toEqual(
      Array.from({ length: 2 }, () => '1 problem: database/changelog-lock. Trying again in 1 s; giving up in 1 s.'),
    )
  })

  test('ends with the last report when the time is up, after one try at least', async () => {
    expect(await waitUntilHealthy(inTurn([stuckLock]), { ...options, forMs: 20, progress: () => undefined })).toBe(
      stuckLock,
    )
    expect(await waitUntilHealthy(inTurn([stuckLock]), { ...options, forMs: 0, progress: () => undefined })).toBe(
      stuckLock,
    )
  })
})

describe('watching', () => {
  test('goes on until interrupted, and gives the last report', async () => {
    const controller = new AbortController()
    const shown: (string | null)[] = []
    const last = await watch(inTurn([healthy, stuckLock, healthy, stuckLock]), {
      intervalMs: 1,
      signal: controller.signal,
      show: (report, before) => {
        shown.push(before === null ? null : `${before.rootCauses.length} -> ${report.rootCauses.length}`)
        if (shown.length === 4) controller.abort()
      },
    })
    expect(shown).toEqual([null, '0 -> 1', '1 -> 0', '0 -> 1'])
    expect(last).toBe(stuckLock)
  })

  test('asks for rights once for each set of root causes, and says each time what is missing', async () => {
    const controller = new AbortController()
    const [root = ''] = stuckLock.rootCauses
    const asked: (typeof healthy)[] = []
    const shown: unknown[] = []
    const withRights = async (report: typeof healthy): Promise<typeof healthy> => {
      asked.push(report)
      const checks = report.checks.map((it) =>
        it.id === root && it.remedy ? { ...it, remedy: { ...it.remedy, lacks: 'no right', grant: ['grant it'] } } : it,
      )
      return report.rootCauses.length === 0 ? report : { ...report, checks }
    }
    const later = { ...stuckLock, startedAt: '2026-01-02T03:04:05.000Z' }
    await watch(
      { ...inTurn([stuckLock, later, healthy, stuckLock]), withRights },
      {
        intervalMs: 1,
        signal: controller.signal,
        show: (report) => {
          const { remedy } = report.checks.find(({ id }) => id === root)!
          shown.push([report.startedAt, remedy?.lacks, remedy?.grant])
          if (shown.length === 4) controller.abort()
        },
      },
    )
    expect(asked).toEqual([stuckLock, healthy])
    expect(shown).toEqual([
      [stuckLock.startedAt, 'no right', ['grant it']],
      [later.startedAt, 'no right', ['grant it']],
      [healthy.startedAt, undefined, undefined],
      [stuckLock.startedAt, 'no right', ['grant it']],
    ])
  })

  test(
    'gives the report before, where the interruption comes during a diagnosis, ' + 'and the error where there is none',
    async () => {
      const controller = new AbortController()
      const interrupted = new AdminError('INTERRUPTED', 'interrupted')
      let round = 0
      const glance = async (): Promise<typeof healthy> => {
        if (round++ === 0) return healthy
        controller.abort(interrupted)
        throw interrupted
      }
      const options = { intervalMs: 1, signal: controller.signal, show: () => undefined }
      expect(await watch({ ...inTurn([]), glance }, options)).toBe(healthy)
      await expect(watch({ ...inTurn([]), glance }, options)).rejects.toBe(interrupted)
    },
  )
})

function inTurn(reports: readonly (typeof healthy)[]) {
  let round = 0
  const glance = async (): Promise<typeof healthy> => reports[Math.min(round++, reports.length - 1)]!
  return { glance, withRights: async (report: typeof healthy) => report }
}
