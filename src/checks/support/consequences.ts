/** The checks whose problems a service that cannot start, or does not work, causes. */
export const serviceFails: readonly string[] = [
  'service/running',
  'api/reachable',
  'api/token',
  'api/roles',
  'api/token-lifetime',
  'api/latency',
  'trees/migrated',
]
