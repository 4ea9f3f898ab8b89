import { readFile } from 'node:fs/promises'
import { AdminError } from '../../../core/error.ts'
import type { Account } from '../types.ts'

/**
 * The existing account that PostgreSQL is run as where we are root, which it refuses to run as; null: as ourselves.
 * No account is made for it.
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
    'PostgreSQL does not run as root, and there is no account "postgres" or "nobody" to run it as',
    ['run this command as a plain user'],
  )
}
