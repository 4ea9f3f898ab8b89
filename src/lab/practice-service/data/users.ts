import type { Database } from '../database/pool.ts'
import { hashToken, passwordMatches } from './seeds.ts'

export interface User {
  id: number
  username: string
  authority: string
}

const columns = 'u.id::int AS id, u.username, u.authority'

/** Returns the enabled user with this API token; null if there is none. */
export async function userOfToken(database: Database, token: string): Promise<User | null> {
  const rows = await database.query<User>(
    `SELECT ${columns} FROM user_account u JOIN api_token t ON t.user_id = u.id WHERE t.token_hash = $1 AND u.enabled`,
    [hashToken(token)],
  )
  return rows[0] ?? null
}

export async function userNamed(database: Database, username: string): Promise<User | null> {
  const rows = await database.query<User>(`SELECT ${columns} FROM user_account u WHERE u.username = $1 AND u.enabled`, [
    username,
  ])
  return rows[0] ?? null
}

/** Returns the enabled user with this name and password; null if either is wrong. */
export async function authenticate(database: Database, username: string, password: string): Promise<User | null> {
  const rows = await database.query<User & { password: string }>(
    `SELECT ${columns}, u.password FROM user_account u WHERE u.username = $1 AND u.enabled`,
    [username],
  )
  const [row] = rows
  if (!row || !passwordMatches(password, row.password)) return null
  return { id: row.id, username: row.username, authority: row.authority }
}

/** True for the project's owner and for an administrator (SPEC.md 4.3). */
export async function mayMigrateTrees(database: Database, user: User, projectId: number): Promise<boolean> {
  if (user.authority === 'ROLE_ADMIN') return true
  const rows = await database.query(
    "SELECT 1 FROM project_role WHERE project_id = $1 AND user_id = $2 AND role = 'OWNER'",
    [projectId, user.id],
  )
  return rows.length > 0
}
