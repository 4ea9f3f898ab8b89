import { AdminError } from '../../core/error.ts'
import type { Secret } from '../../core/secret.ts'
import type { SecretReference } from './nodes.ts'
import { placeOf } from './secrets.ts'

/**
 * Throws SECRET_MISSING, with its place and never its value, for a secret that cannot be an API token: those are plain
 * words.
 */
export function requireApiToken(secret: Secret, reference: SecretReference): void {
  const why = whyNone(secret.reveal())
  if (why === null) return
  throw new AdminError('SECRET_MISSING', `the secret at ${reference.at} cannot be used: ${placeOf(reference)} ${why}`, [
    'copy the API token anew, or create another in the user menu of the web interface',
  ])
}

/** What it is that is wrong, most likely; blanks at the ends would count as part of it (SPEC.md 5). */
function whyNone(token: string): string | null {
  if (token.trim() === '') return 'holds blanks only'
  if (/^\s/.test(token))
    return `begins with a blank${/\s$/.test(token) ? ', and ends with one' : ''}: no API token does`
  if (/\s$/.test(token)) return 'ends with a blank: no API token does'
  if (/^(authorization:\s*)?(bearer|api-token)\s/i.test(token))
    return 'begins with a word that belongs to a header: the API token alone is wanted'
  if (!/^[\x21-\x7e]+$/.test(token)) return 'holds a blank or a character that is no ASCII, which no API token has'
  if (/^(["'`]).*\1$/.test(token)) return 'is in quotes, which would count as part of it'
  return null
}
