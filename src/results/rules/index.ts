import type { FileRule, GroupRule } from '../rule.ts'
import { nestedAttachment } from './attachments.ts'
import { nameCollision, parametersMissing } from './collapse.ts'
import { inventedIdentifier, noIdentifier } from './identifier.ts'
import { longField } from './sizes.ts'
import { volatileParameter } from './volatile.ts'

export { attachmentsOf, missingAttachment, nestedFile, orphanAttachment } from './attachments.ts'
export { shapeFaults } from './bad-shape.ts'
export { emptyResults } from './empty-results.ts'
export { judgeEnvironment } from './judge-environment.ts'
export { isSecretParameter } from './said.ts'
export { oversize } from './sizes.ts'
export { pairOf, parameterPairs, volatileBetween } from './volatile.ts'

/** Rules for single files, in the order of the catalogue. */
export const fileRules: readonly FileRule[] = [
  longField,
  nestedAttachment,
  noIdentifier,
  inventedIdentifier,
  volatileParameter,
]

export const groupRules: readonly GroupRule[] = [nameCollision, parametersMissing]
