import type { FileRule, GroupRule } from '../rule.ts'
import { inventedIdentifier } from './invented-identifier.ts'
import { longField } from './long-field.ts'
import { nameCollision } from './name-collision.ts'
import { nestedAttachment } from './nested-attachment.ts'
import { noIdentifier } from './no-identifier.ts'
import { parametersMissing } from './parameters-missing.ts'
import { volatileParameter } from './volatile-parameter.ts'

export { attachmentsOf } from './attachments-of.ts'
export { shapeFaults } from './bad-shape.ts'
export { emptyResults } from './empty-results.ts'
export { judgeEnvironment } from './judge-environment.ts'
export { missingAttachment } from './missing-attachment.ts'
export { nestedFile } from './nested-attachment.ts'
export { orphanAttachment } from './orphan-attachment.ts'
export { oversize } from './oversize-result.ts'
export { isSecretParameter } from './said.ts'
export { pairOf, parameterPairs, volatileBetween } from './volatile-between.ts'

/** Rules for single files, in the order of the catalogue. */
export const fileRules: readonly FileRule[] = [
  longField,
  nestedAttachment,
  noIdentifier,
  inventedIdentifier,
  volatileParameter,
]

export const groupRules: readonly GroupRule[] = [nameCollision, parametersMissing]
