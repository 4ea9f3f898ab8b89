import { onTestFinished } from 'vitest'
import { openDatabase } from '../../src/adapters/postgres/index.ts'
import type { DatabaseEndpoint } from '../../src/core/endpoint.ts'
import type { DatabaseSource } from '../../src/core/sources.ts'
import { freshDatabase } from '../servers/index.ts'
import type { FreshDatabase } from '../servers/index.ts'

export const timeoutMs = 2000
export const lockColumns = 'id int, locked boolean, lockgranted timestamp, lockedby text'

/** A database of one test, which goes when the test ends. */
export async function ownDatabase(): Promise<FreshDatabase> {
  const fresh = await freshDatabase()
  onTestFinished(async () => fresh.cleanup())
  return fresh
}

/** Open until the test ends. */
export async function opened(endpoint: DatabaseEndpoint): Promise<DatabaseSource> {
  const { source, close } = await openDatabase(endpoint, { timeoutMs })
  onTestFinished(close)
  return source
}

/** Where its server listens. */
export function placeOf({ endpoint }: FreshDatabase): { host: string; port: number } {
  return endpoint.hosts[0] ?? { host: '', port: 0 }
}
