import { createHash, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto'

/** Users and data of every practice deployment. Their passwords and tokens protect only exercises. */
interface SeedUser {
  id: number
  username: string
  password: string
  apiToken: string
  role: 'ROLE_ADMIN' | 'ROLE_USER'
  /** projects that this user owns */
  owns: readonly number[]
}

export const seedUsers: readonly SeedUser[] = [
  {
    id: 1,
    username: 'admin',
    password: 'practice-admin',
    apiToken: '6a1c7f58-3f0e-4a52-9d6c-0c5f6a1f0b01',
    role: 'ROLE_ADMIN',
    owns: [],
  },
  {
    id: 2,
    username: 'olga',
    password: 'practice-olga',
    apiToken: 'b7a4a1a2-91d5-4a8c-8d25-53f1f4d5e702',
    role: 'ROLE_USER',
    owns: [1],
  },
  {
    id: 3,
    username: 'guest',
    password: 'practice-guest',
    apiToken: 'd0f3c9b1-6f4e-4d0a-a8f4-7a36f2f0c903',
    role: 'ROLE_USER',
    owns: [],
  },
]

export const seedProjects = [
  { id: 1, name: 'Web shop', abbr: 'WS' },
  { id: 2, name: 'Billing', abbr: 'BL' },
  { id: 3, name: 'Mobile', abbr: 'MB' },
] as const

export const seedTrees = [
  { id: 1, projectId: 1, name: 'Features' },
  { id: 2, projectId: 1, name: 'Suites' },
  { id: 3, projectId: 2, name: 'Features' },
  { id: 4, projectId: 3, name: 'Suites' },
] as const

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
