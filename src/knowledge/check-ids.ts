/** Ids of all checks, in the order of display: a configuration names them. Never renamed or reused. */
export const checkIds: readonly string[] = [
  'database/reachable',
  'database/changelog-lock',
  'database/connections',
  'database/disk',
  'broker/reachable',
  'broker/queues-durable',
  'broker/upgrade',
  'broker/alarms',
  'sessions/reachable',
  'sessions/clock',
  'sessions/memory',
  'service/running',
  'service/crashes',
  'service/ready',
  'service/unfinished-repair',
  'service/settings',
  'service/image',
  'service/cpu-level',
  'service/clocks',
  'service/log-errors',
  'api/reachable',
  'api/token',
  'api/roles',
  'api/token-lifetime',
  'api/token-use',
  'api/system-login',
  'api/proxy',
  'api/latency',
  'trees/migrated',
  'integrations/reachable',
  'integrations/credentials',
  'integrations/answers',
  'integrations/debug-logging',
]

/** The group of the operator's own checks: no check of this program is in it. */
export const ownGroup = 'own'

/** Returns the id of the check in a file: `own/outbox` for `checks/outbox.mjs`. */
export function ownCheckId(file: string): string {
  return `${ownGroup}/${file.replace(/^.*\//s, '').replace(/\.m?js$/, '')}`
}

/** True for the id of an operator's own check. */
export function isOwnCheck(id: string): boolean {
  return id.startsWith(`${ownGroup}/`)
}

/** True if a configuration may ignore the check: without the others, nothing else that `doctor` says would be right. */
export function isIgnorable(id: string): boolean {
  return isOwnCheck(id) || (!id.endsWith('/reachable') && id !== 'service/unfinished-repair')
}
