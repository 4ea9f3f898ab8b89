import { scryptSync } from 'node:crypto'

/**
 * Returns what identifies a secret without storing it; null for null. It is slow to compute, so that a short secret is
 * not found by trying. The salt is one plan's, so that two plans do not show that they hold the same secret.
 */
export function fingerprint(value: string | null, salt: string): string | null {
  return value === null ? null : scryptSync(value, salt, 16).toString('hex')
}
