import type { Check, CheckReport } from '../../src/core/check.ts'
import type { Deployment } from '../../src/core/deployment.ts'
import type { AdminError } from '../../src/core/error.ts'
import type { SourceName, Sources } from '../../src/core/sources.ts'
import { checks } from '../../src/checks/index.ts'
import { runChecks } from '../../src/engine/run-checks.ts'
import { commands, openFakes } from '../fakes/index.ts'

/** Parts that are not as in a healthy deployment; an error: opening that part fails so. */
export type Parts = { [K in SourceName]?: Sources[K] | AdminError }

/** A situation, and what one check makes of it. */
export interface Case {
  situation: string
  sources?: Parts
  deployment?: Partial<Deployment>
  status: CheckReport['status']
  severity?: 'error' | 'warning'
  because?: string
  code?: string
  /** each is found in what the check says: detail, reason, findings, evidence, error, remedy */
  says?: readonly (string | RegExp)[]
  /** none is found there */
  silentOn?: readonly (string | RegExp)[]
}

/** All situations of one check; the catalogue's test asks for an ok, a problem and a part that is not there. */
export interface CheckTable {
  check: Check
  cases: readonly Case[]
}

const deployment: Deployment = {
  name: 'prod',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: 'UTC',
}

/** What the check comes to in a run together with those that stand for the parts. */
export async function judged(
  check: Check,
  { sources = {}, deployment: of = {} }: Pick<Case, 'sources' | 'deployment'>,
): Promise<CheckReport> {
  const report = await runChecks({
    checks: checks.filter((other) => other === check || other.guards !== undefined),
    open: openFakes(sources),
    deployment: { ...deployment, ...of },
    deadlineMs: 2000,
    commands,
  })
  return report.checks.find(({ id }) => id === check.id)!
}
