import { createHash, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

const rounds = 10_000

/** Hashes a password with a new salt. Marks the hash with its kind, as Spring Security does. */
export function hashPassword(password: string): string {
  const salt = randomBytes(16)
  return `{pbkdf2}${Buffer.concat([salt, derive(password, salt)]).toString('hex')}`
}

export function passwordMatches(password: string, stored: string): boolean {
  const hex = /^\{pbkdf2\}([0-9a-f]+)$/.exec(stored)?.[1]
  if (!hex) return false
  const bytes = Buffer.from(hex, 'hex')
  return timingSafeEqual(derive(password, bytes.subarray(0, 16)), bytes.subarray(16))
}

/** Hashes an API token with SHA-256, the form in which tokens are stored. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function derive(password: string, salt: Buffer): Buffer {
  return pbkdf2Sync(password, salt, rounds, 32, 'sha256')
}
