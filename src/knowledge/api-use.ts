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
