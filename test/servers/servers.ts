import { inject } from 'vitest'
import type { TestServers } from './global-setup.ts'

/** Only in tests of the project `servers`. Shared by all tests: never stop one of them, start your own for that. */
export function servers(): TestServers {
  return inject('servers')
}
