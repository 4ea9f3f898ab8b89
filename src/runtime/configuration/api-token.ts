import { AdminError } from '../../core/error.ts'
import type { Secret } from '../../core/secret.ts'
import type { SecretReference } from './nodes.ts'
import { placeOf } from './secrets.ts'

/** Throws SECRET_MISSING, with its place and never its value, for a secret that cannot be an API token: those are plain words. */
export function requireApiToken(secret: Secret, reference: SecretReference): void {
  if (/^[\x21-\x7e]+$/.test(secret.reveal())) return
  throw new AdminError(
    'SECRET_MISSING',
    `the secret at ${reference.at} cannot be used: ${placeOf(reference)} holds a blank or a character that is no ASCII, which no API token has`,
    ['copy the API token anew, or create another in the user menu of the web interface'],
  )
}
