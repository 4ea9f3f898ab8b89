import { AdminError } from '../core/error.ts'
import type { ErrorCode, Obstacle } from '../core/error.ts'

const codes: readonly ErrorCode[] = ['CONFIGURATION', 'SECRET_MISSING', 'UNAVAILABLE', 'USAGE']
const kinds: readonly Obstacle['kind'][] = ['unresolved', 'unrouted', 'tls', 'client-certificate', 'misnamed', 'proxy']

/**
 * Tells whether an error has a cause of its own, whatever else is down: a part that stops takes no name out of the DNS,
 * no route, no certificate, and no program off this machine.
 */
export function isApart(error: unknown): boolean {
  if (!(error instanceof AdminError)) return false
  const { code, obstacle } = error
  // what ends the pods or containers of a part takes the way to it
  if (obstacle?.kind === 'instances') return false
  return codes.includes(code) || (obstacle !== null && kinds.includes(obstacle.kind))
}
