import { defineCheck } from '../../src/core/check.ts'
import type { Check, CheckReport } from '../../src/core/check.ts'
import { runChecks } from '../../src/engine/run-checks.ts'
import type { RunOptions } from '../../src/engine/run-checks.ts'
import { commands, openFakes } from '../fakes/index.ts'

export const remedy = { text: 'Repair {deployment}.', commands: ['repair -d {deployment}', '{start}'] }
export const fine = async () => ({ status: 'ok', detail: 'fine' }) as const
export const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

export function run(checks: readonly Check[], options: Partial<RunOptions> = {}): ReturnType<typeof runChecks> {
  return runChecks({
    checks,
    open: openFakes(),
    deployment: {
      name: 'prod',
      platform: 'host',
      vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
      timeZone: null,
    },
    deadlineMs: 1000,
    commands,
    ...options,
  })
}

export async function one(check: Check, options: Partial<RunOptions> = {}): Promise<CheckReport> {
  return (await run([check], options)).checks[0]!
}

/** Stands for the database. */
export const guard = defineCheck({
  id: 'database/reachable',
  title: 'well',
  reads: ['database'],
  guards: 'database',
  remedy,
  run: fine,
})
