import type { Finding, Remedy, Severity } from './check.ts'
import type { ErrorCode } from './error.ts'
import type { PlatformName } from './deployment.ts'

/** What `doctor --json` prints (DESIGN.md 4). */
export interface DoctorReport {
  schemaVersion: 1
  deployment: string
  /** What was found and is used if no configuration names the deployment */
  found?: string
  platform: PlatformName
  build: string | null
  startedAt: string
  durationMs: number
  summary: { ok: number; warning: number; error: number; skipped: number; unknown: number }
  /** Every problem that no other problem explains */
  rootCauses: readonly string[]
  checks: readonly CheckReport[]
}

export interface CheckReport {
  id: string
  title: string
  status: 'ok' | 'problem' | 'skipped' | 'unknown'
  severity?: Severity
  /** What was found to be healthy */
  detail?: string
  findings?: readonly Finding[]
  reason?: string
  error?: { code: ErrorCode | 'BUG'; message: string; suggestions: readonly string[] }
  /** The problem that causes this one, or that keeps this check from being judged */
  because?: string
  /** Absent if `because` names another check, which is the one to repair */
  remedy?: Remedy
  docs: string
  durationMs: number
}
