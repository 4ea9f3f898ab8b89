import { AdminError } from '../../core/error.ts'
import type { Secret } from '../../core/secret.ts'
import type { SecretReference } from './nodes.ts'
import { placeOf } from './secrets.ts'

/**
 * Throws SECRET_MISSING for a secret that cannot be an API token, which is a plain word. The error names its place,
 * never its value.
 */
export function requireApiToken(secret: Secret, reference: SecretReference): void {
  const why = whyNone(secret.reveal())
  if (why === null) return
  throw new AdminError('SECRET_MISSING', `the secret at ${reference.at} cannot be used: ${placeOf(reference)} ${why}`, [
    'copy the API token again, or create another in the user menu of the web interface',
  ])
}

/** Returns a token's most likely fault; null if none. Blanks at either end would count as part of it (SPEC.md 5). */
function whyNone(token: string): string | null {
  if (token.trim() === '') return 'contains only blanks'
  if (/^\s/.test(token)) return `begins ${/\s$/.test(token) ? 'and ends ' : ''}with a blank, which no API token does`
  if (/\s$/.test(token)) return 'ends with a blank, which no API token does'
  if (/^(authorization:\s*)?(bearer|api-token)\s/i.test(token))
    return 'begins with a word from an HTTP header: give only the API token'
  if (!/^[\x21-\x7e]+$/.test(token)) return 'contains a blank or a non-ASCII character, which no API token has'
  if (/^(["'`]).*\1$/.test(token)) return 'is in quotes, which would count as part of it'
  return null
}
