import { apiEntries } from './api.ts'
import { brokerEntries } from './broker.ts'
import { databaseEntries } from './database.ts'
import type { ExplainEntry } from './entry.ts'
import { integrationsEntries } from './integrations.ts'
import { logErrorsEntries } from './log-errors.ts'
import { serviceEntries } from './service.ts'
import { sessionsEntries } from './sessions.ts'
import { treesEntries } from './trees.ts'

/** The text of each check, in the order of their catalogue. */
export const checkTexts: readonly ExplainEntry[] = [
  ...databaseEntries,
  ...brokerEntries,
  ...sessionsEntries,
  ...serviceEntries,
  ...logErrorsEntries,
  ...apiEntries,
  ...treesEntries,
  ...integrationsEntries,
]
