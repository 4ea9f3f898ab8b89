import { checkTexts } from './checks.ts'
import type { ExplainText } from './entry.ts'
import { apiFaults } from './faults/api.ts'
import { attachmentsFaults } from './faults/attachments.ts'
import { brokerFaults } from './faults/broker.ts'
import { databaseFaults } from './faults/database.ts'
import { tokenFaults } from './faults/expired-token.ts'
import { identityFaults } from './faults/identity.ts'
import { integrationsFaults } from './faults/integrations.ts'
import { resultsFaults } from './faults/results.ts'
import { serviceFaults } from './faults/service.ts'
import { sessionsFaults } from './faults/sessions.ts'
import { testCasesFaults } from './faults/test-cases.ts'
import { resolved } from './resolve.ts'
import { signatureEntries } from './signatures.ts'
import { accessTerms } from './terms/access.ts'
import { attachmentsTerms } from './terms/attachments.ts'
import { brokerTerms } from './terms/broker.ts'
import { resultsTerms } from './terms/results.ts'
import { serviceTerms } from './terms/service.ts'

/** Every text of `explain` as it is written down: of checks, faults, lines of logs, and words. */
export const explainTexts: readonly ExplainText[] = [
  ...checkTexts,
  ...databaseFaults,
  ...brokerFaults,
  ...sessionsFaults,
  ...serviceFaults,
  ...integrationsFaults,
  ...apiFaults,
  ...tokenFaults,
  ...testCasesFaults,
  ...resultsFaults,
  ...attachmentsFaults,
  ...identityFaults,
  ...signatureEntries,
  ...resultsTerms,
  ...attachmentsTerms,
  ...accessTerms,
  ...brokerTerms,
  ...serviceTerms,
]

/** The same, each in full. */
export const explainEntries = resolved(explainTexts)
