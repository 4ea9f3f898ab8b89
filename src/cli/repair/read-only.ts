import { AdminError } from '../../core/error.ts'

const no = ['', '0', 'false', 'no', 'n']

/** True if TESTOPS_ADMIN_READ_ONLY is set, other than to a no: nothing may be changed from here (DESIGN.md 2). */
export function isReadOnly(environment: NodeJS.ProcessEnv = process.env): boolean {
  return !no.includes((environment.TESTOPS_ADMIN_READ_ONLY ?? '').toLowerCase())
}

/** Throws REFUSED if TESTOPS_ADMIN_READ_ONLY is set, other than to a no. */
export function refuseIfReadOnly(environment: NodeJS.ProcessEnv = process.env): void {
  if (!isReadOnly(environment)) return
  throw new AdminError('REFUSED', 'Nothing changed: TESTOPS_ADMIN_READ_ONLY is set', [
    'unset TESTOPS_ADMIN_READ_ONLY   # not needed for --dry-run, which shows the plan and changes nothing',
  ])
}
