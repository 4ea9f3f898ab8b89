/** How programs sign in at the API. */
export const apiUse = {
  /** SPEC.md 4.1: where the API token is exchanged for a Bearer token */
  exchange: '/api/uaa/oauth/token',
  /** SPEC.md 5: what every other call bears */
  bearer: 'bearer',
  /** FIELD-NOTES.md 7: `Authorization: api-token <TOKEN>`, which SPEC.md 5.4 warns of */
  apiToken: 'api-token',
} as const

/** True if a path, below any base address, is this one. */
export function isPath(path: string, wanted: string): boolean {
  return path === wanted || path.endsWith(wanted)
}

/**
 * Roles that may migrate trees (SPEC.md 4.3). How `GET /api/uaa/me` writes the global ones is not documented (SPEC.md
 * 4.2: "its fields: not shown"). Only what looks like a Spring authority is read; other shapes prove nothing.
 */
export const roles = {
  administrator: 'Администратор',
  projectOwner: 'Владелец проекта',
  administratorAuthority: 'ROLE_ADMIN',
} as const

/**
 * Returns the global roles in the answer about a user, as they are written there; null if it shows none that can be
 * read as such.
 */
export function rolesOf(user: Readonly<Record<string, unknown>>): readonly string[] | null {
  const listed = ['authorities', 'roles', 'authority', 'role']
    .map((key) => user[key])
    .find((value) => value !== undefined)
  const names = (Array.isArray(listed) ? listed : [listed]).map(nameOf)
  const known = names.filter((name) => name !== null)
  // a list with an unknown part may contain the very role that is looked for
  return known.length > 0 && known.length === names.length ? known : null
}

export function isAdministrator(names: readonly string[]): boolean {
  return names.some((name) => name === roles.administratorAuthority || name === roles.administrator)
}

/** Returns a role: `ROLE_…`, alone or as `authority` of an object, as Spring writes it, or the web interface's name. */
function nameOf(value: unknown): string | null {
  const name = typeof value === 'object' && value !== null ? (value as { authority?: unknown }).authority : value
  if (typeof name !== 'string') return null
  return /^ROLE_[A-Z0-9_]{1,40}$/.test(name) || name === roles.administrator ? name : null
}
