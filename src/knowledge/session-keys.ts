/** The keys that Spring Session's repositories keep in a key space (FIELD-NOTES.md 4). */
export const sessionKeys = {
  /** hash: of both repositories */
  session: (namespace: string, id: string): string => `${namespace}:sessions:${id}`,
  /** string, the mark of an indexed repository */
  expires: (namespace: string, id: string): string => `${namespace}:sessions:expires:${id}`,
  /** set of `expires:ID` for each minute */
  expirations: (namespace: string, minute: string): string => `${namespace}:expirations:${minute}`,
  /** sorted set of ids, in place of these sets since 3.4 */
  sortedExpirations: (namespace: string): string => `${namespace}:sessions:expirations`,
  /** set of the ids of one user */
  userIndex: (namespace: string, user: string): string => `${namespace}:index:${principalName}:${user}`,
} as const

const principalName = 'org.springframework.session.FindByIndexNameSessionRepository.PRINCIPAL_NAME_INDEX_NAME'

/** what members of the sets per minute begin with */
export const expiresMember = 'expires:'

/** A key space in a pattern of Redis, where its own special characters stand for themselves. */
export function literally(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&')
}
