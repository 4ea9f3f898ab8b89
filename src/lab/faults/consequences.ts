/** What a service that cannot start, or does not work, brings with it. */
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

/** What a service that runs without one of its parts brings with it: its health says so. */
export const apiFails: readonly string[] = serviceFails.filter((id) => !id.startsWith('service/'))
