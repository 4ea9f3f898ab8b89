/** Checks that may also fail when the service cannot start or does not work. */
export const serviceFails: readonly string[] = [
  'service/running',
  'service/crashes',
  'service/ready',
  'service/log-errors',
  'api/reachable',
  'api/token',
  'api/roles',
  'api/token-lifetime',
  'api/latency',
  'trees/migrated',
]

/** Checks that may also fail when the service runs without one of its parts, since its health endpoint says so. */
export const apiFails: readonly string[] = serviceFails.filter((id) => !id.startsWith('service/'))
