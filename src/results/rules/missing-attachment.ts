import type { Found } from '../problem.ts'
import type { NamedAttachment } from './attachments-of.ts'
import { quoted } from './said.ts'

/** Returns the finding for an attachment that lies in no child directory either (`nestedFile`). */
export function missingAttachment({ place, source }: NamedAttachment): Found {
  if (source === '') return { message: 'an attachment names no file', place }
  return { message: `the attachment ${quoted(source, 120)} is not in the results directory`, place }
}
