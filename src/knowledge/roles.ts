/**
 * Roles that may migrate trees (SPEC.md 4.3). How `GET /api/uaa/me` writes the global ones is not documented (SPEC.md
 * 4.2: "its fields: not shown"): what looks like a Spring authority is read, and nothing is concluded from other
 * shapes.
 */
export const roles = {
  administrator: 'Администратор',
  projectOwner: 'Владелец проекта',
  administratorAuthority: 'ROLE_ADMIN',
} as const

/**
 * The global roles in the answer about a user, as they are written there; null: it shows none that can be read as such.
 */
export function rolesOf(user: Readonly<Record<string, unknown>>): readonly string[] | null {
  const listed = ['authorities', 'roles', 'authority', 'role']
    .map((key) => user[key])
    .find((value) => value !== undefined)
  const names = (Array.isArray(listed) ? listed : [listed]).map(nameOf)
  const known = names.filter((name) => name !== null)
  // a list of which a part is not understood may hold the very role that is looked for
  return known.length > 0 && known.length === names.length ? known : null
}

export function isAdministrator(names: readonly string[]): boolean {
  return names.some((name) => name === roles.administratorAuthority || name === roles.administrator)
}

/** `ROLE_…`, alone or as `authority` of an object, as Spring writes it; or the name that the web interface shows. */
function nameOf(value: unknown): string | null {
  const name = typeof value === 'object' && value !== null ? (value as { authority?: unknown }).authority : value
  if (typeof name !== 'string') return null
  return /^ROLE_[A-Z0-9_]{1,40}$/.test(name) || name === roles.administrator ? name : null
}
