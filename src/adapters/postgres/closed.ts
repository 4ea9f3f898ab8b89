import type { DatabaseControl } from '../../core/controls.ts'
import type { DatabaseEndpoint } from '../../core/endpoint.ts'
import type { DatabaseSource } from '../../core/sources.ts'
import { hostPort } from '../failure.ts'

/** Returns a source for a database that could not be opened: every method throws `reason`. */
export function closedDatabase(endpoint: DatabaseEndpoint, reason: unknown): DatabaseSource {
  const refuse = refusing(reason)
  return {
    ...placeOf(endpoint),
    identity: refuse,
    clock: refuse,
    changelogLocks: refuse,
    backends: refuse,
    operator: refuse,
    connections: refuse,
    temporarySpace: refuse,
    storage: refuse,
  }
}

/** Returns a control for a database that could not be opened: every method throws `reason`. */
export function closedControl(endpoint: DatabaseEndpoint, reason: unknown): DatabaseControl {
  const refuse = refusing(reason)
  return {
    ...placeOf(endpoint),
    releaseLock: refuse,
    hasCommitted: refuse,
    restoreLock: refuse,
    insertLockRow: refuse,
    deleteLockRow: refuse,
    removeOtherRows: refuse,
    restoreOtherRows: refuse,
  }
}

function refusing(reason: unknown): () => Promise<never> {
  return async () => {
    throw reason
  }
}

/** Names a database that did not open by the first of its hosts. */
function placeOf(endpoint: DatabaseEndpoint): Pick<DatabaseSource, 'target' | 'alsoAt'> {
  const [target = `/${endpoint.database}`] = targetsOf(endpoint)
  return { target, alsoAt: otherTargets(endpoint, target) }
}

function targetsOf({ hosts, database }: DatabaseEndpoint): string[] {
  return hosts.map(({ host, port }) => `${hostPort(host, port)}/${database}`)
}

/** Names the same database by the other hosts of its address. */
export function otherTargets(endpoint: DatabaseEndpoint, target: string): string[] {
  return targetsOf(endpoint).filter((other) => other !== target)
}
