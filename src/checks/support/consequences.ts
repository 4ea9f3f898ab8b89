/** Checks whose problems are caused by a service that does not answer, or only in part. */
export const apiFails: readonly string[] = [
  'api/reachable',
  'api/token',
  'api/roles',
  'api/token-lifetime',
  'api/latency',
  'trees/migrated',
]

/** Checks whose problems are caused by a service that cannot start, or does not work. */
export const serviceFails: readonly string[] = [
  'service/running',
  'service/crashes',
  'service/ready',
  'service/log-errors',
  ...apiFails,
]
