import { readFile } from 'node:fs/promises'
import { AdminError } from '../../../core/error.ts'
import type { Account } from '../types.ts'

/**
 * The existing account to run PostgreSQL as if we are root, since PostgreSQL refuses to run as root; null: run it as
 * ourselves. No account is created.
 */
export async function unprivilegedAccount(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const wanted of ['postgres', 'nobody']) {
    const [name, , uid, gid] = accounts.find(([name]) => name === wanted) ?? []
    if (name && Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid) }
  }
  throw new AdminError(
    'UNAVAILABLE',
    'PostgreSQL cannot run as root, and neither account "postgres" nor "nobody" exists',
    ['run this command as a plain user'],
  )
}
