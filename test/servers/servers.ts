import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { ServerRecord } from '../../src/lab/servers/index.ts'

export interface TestServers {
  postgres: ServerRecord
  redis: ServerRecord
  rabbitmq3: ServerRecord
  rabbitmq43: ServerRecord
}

/** The file of a run that says what servers it has, or `failed`. */
export const toldFile = (run: string): string => join(run, 'servers.json')

let known: TestServers | null = null

/** Returns the servers of the project `servers`, shared by all tests. Never stop one: start your own for that. */
export function servers(): TestServers {
  known ??= JSON.parse(readFileSync(toldFile(inject('serversFolder')), 'utf8')) as TestServers
  return known
}
