import type { Found } from '../problem.ts'
import type { NamedAttachment } from './attachments-of.ts'
import { quoted } from './said.ts'

/** Returns the finding for an attachment that lies in no subdirectory either (`nestedFile`). */
export function missingAttachment({ place, source }: NamedAttachment): Found {
  if (source === '') return { message: 'an attachment has no file name', place }
  return { message: `the attachment ${quoted(source, 120)} is not in the results directory`, place }
}
