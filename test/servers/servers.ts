import { inject } from 'vitest'
import type { TestServers } from './global-setup.ts'

/** Returns the servers of the project `servers`, shared by all tests. Never stop one: start your own for that. */
export function servers(): TestServers {
  return inject('servers')
}
