/** The keys that Spring Session's repositories keep in a key space (FIELD-NOTES.md 4). */
export const sessionKeys = {
  /** Hash, of both repositories */
  session: (namespace: string, id: string): string => `${namespace}:sessions:${id}`,
  /** String, the mark of an indexed repository */
  expires: (namespace: string, id: string): string => `${namespace}:sessions:expires:${id}`,
  /** Set of `expires:ID` for each minute */
  expirations: (namespace: string, minute: string): string => `${namespace}:expirations:${minute}`,
  /** Sorted set of ids, in place of these sets since 3.4 */
  sortedExpirations: (namespace: string): string => `${namespace}:sessions:expirations`,
  /** Set of the ids of one user */
  userIndex: (namespace: string, user: string): string => `${namespace}:index:${principalName}:${user}`,
} as const

const principalName = 'org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME'

/** Prefix of members of the sets per minute */
export const expiresMember = 'expires:'

/** Escapes a key space for a pattern of Redis, so that special characters stand for themselves. */
export function literally(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}
