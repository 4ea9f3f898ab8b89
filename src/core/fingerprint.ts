import { scryptSync } from 'node:crypto'

/**
 * By what a secret is known again without being kept: slow to make, so that a short one is not found by trying, and
 * with the salt of one plan, so that two plans do not show that they speak of the same. Null: there is none.
 */
export function fingerprint(value: string | null, salt: string): string | null {
  return value === null ? null : scryptSync(value, salt, 16).toString('hex')
}
