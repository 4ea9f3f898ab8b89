import { apiEntries } from './api.ts'
import { brokerEntries } from './broker.ts'
import { databaseEntries } from './database.ts'
import type { ExplainEntry } from './entry.ts'
import { expiredTokenEntries } from './expired-token.ts'
import { integrationsEntries } from './integrations.ts'
import { serviceEntries } from './service.ts'
import { sessionsEntries } from './sessions.ts'
import { testCasesEntries } from './test-cases.ts'
import { treesEntries } from './trees.ts'

/** Every text of `explain`, in the order of the catalogue of checks. */
export const explainEntries: readonly ExplainEntry[] = [
  ...databaseEntries,
  ...brokerEntries,
  ...sessionsEntries,
  ...serviceEntries,
  ...apiEntries,
  ...expiredTokenEntries,
  ...treesEntries,
  ...testCasesEntries,
  ...integrationsEntries,
]
