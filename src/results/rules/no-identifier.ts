import type { FileRule } from '../rule.ts'
import { identifierLabels } from './identifier.ts'
import { isBlank } from './said.ts'

/** An invalid identifier is reported by its own rule (`invented-identifier`). */
export const noIdentifier: FileRule = {
  id: 'no-identifier',
  judge({ content }) {
    if (!isBlank(content.fullName) || identifierLabels(content).length > 0) return []
    return [
      {
        message: `the result has no identifier label and ${content.fullName ? 'a blank' : 'no'} full name`,
      },
    ]
  },
}
