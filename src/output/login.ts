import type { BearerToken } from '../core/api-control.ts'
import { grouped, moment } from '../core/format.ts'
import type { Screen } from './paint.ts'
import { clip, hang, pad, printable, widthOf } from './text.ts'

/** What `whoami --json` prints. */
export interface WhoamiDocument {
  schemaVersion: 1
  /** Address of the service */
  url: string
  /** As the service returns it (SPEC.md 4.2 names no fields) */
  user: Readonly<Record<string, unknown>>
}

/** Maximum characters of a field, which may well be a picture */
const longest = 300

/** Returns every field that has a value, one below the other. */
export function whoamiText({ url, user }: WhoamiDocument, screen: Screen): string {
  const fields = Object.entries(user).flatMap(([name, value]) => {
    const shown = printable(shownAs(value)).trim()
    return shown === '' ? [] : [{ name: printable(name), shown }]
  })
  const width = Math.max(0, ...fields.map(({ name }) => widthOf(name)))
  const lines = fields.flatMap(({ name, shown }) => hang(`${pad(name, width)}  `, clip(shown, longest), screen.columns))
  return `${[`The API token's user at ${printable(url)}:`, '', ...lines].join('\n')}\n`
}

/** Returns a value as text; '' if the service leaves it open */
function shownAs(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(shownAs).filter(Boolean).join(', ')
  if (typeof value !== 'object') return typeof value === 'string' ? value : JSON.stringify(value)
  const [first, ...others] = Object.values(value) as unknown[]
  // Spring's roles: {authority: 'ROLE_ADMIN'}
  return typeof first === 'string' && others.length === 0 ? first : JSON.stringify(value)
}

/** What `token --json` prints. */
interface TokenDocument {
  schemaVersion: 1
  accessToken: string
  /** ISO 8601, by this machine's clock; null if the service does not say */
  expiresAt: string | null
  expiresInSeconds: number | null
}

/** Returns the only document that shows a token: who asks for it wants nothing else. */
export function tokenDocument({ token, expiresAt, expiresInSeconds }: BearerToken): TokenDocument {
  return {
    schemaVersion: 1,
    accessToken: token.reveal(),
    expiresAt: expiresAt?.toISOString() ?? null,
    expiresInSeconds,
  }
}

/** Returns in a sentence how long the token lives. */
export function lifeText({ expiresAt, expiresInSeconds }: Omit<BearerToken, 'token'>): string {
  if (expiresInSeconds === null || expiresAt === null) return 'The service does not say how long this token is valid.'
  if (expiresInSeconds === 0)
    return 'The service says that this token has already expired, and will most likely refuse it.'
  return `This token expires in ${grouped(expiresInSeconds)} s, at ${moment(expiresAt)}.`
}
