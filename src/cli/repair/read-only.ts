import { AdminError } from '../../core/error.ts'

const no = ['', '0', 'false', 'no', 'n']

/** Whether TESTOPS_ADMIN_READ_ONLY is set: nothing is to be changed from here (DESIGN.md 2). */
export function isReadOnly(environment: NodeJS.ProcessEnv = process.env): boolean {
  return !no.includes((environment.TESTOPS_ADMIN_READ_ONLY ?? '').toLowerCase())
}

/** Throws REFUSED where TESTOPS_ADMIN_READ_ONLY is set. */
export function refuseIfReadOnly(environment: NodeJS.ProcessEnv = process.env): void {
  if (!isReadOnly(environment)) return
  throw new AdminError('REFUSED', 'Nothing changed: TESTOPS_ADMIN_READ_ONLY is set', [
    'unset TESTOPS_ADMIN_READ_ONLY   # a repair with --dry-run shows its plan and changes nothing',
  ])
}
