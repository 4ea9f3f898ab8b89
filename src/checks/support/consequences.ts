/** The checks whose problems a service that does not answer, or not all, causes. */
export const apiFails: readonly string[] = [
  'api/reachable',
  'api/token',
  'api/roles',
  'api/token-lifetime',
  'api/latency',
  'trees/migrated',
]

/** The checks whose problems a service that cannot start, or does not work, causes. */
export const serviceFails: readonly string[] = [
  'service/running',
  'service/crashes',
  'service/ready',
  'service/log-errors',
  ...apiFails,
]
