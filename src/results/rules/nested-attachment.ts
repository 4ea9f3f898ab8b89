import type { Found } from '../problem.ts'
import type { FileRule } from '../rule.ts'
import { attachmentsOf } from './attachments-of.ts'
import { quoted } from './said.ts'

export const nestedAttachment: FileRule = {
  id: 'nested-attachment',
  judge({ content }) {
    const attachments = attachmentsOf(content)
    return attachments.length === 0 ? [] : attachments.filter(({ source }) => isNested(source)).map(nestedSource)
  },
}

/** True for a path with either kind of slash; SPEC.md 2 allows none. */
function isNested(source: string): boolean {
  return source.includes('/') || source.includes('\\')
}

function nestedSource({ place, source }: { place: string; source: string }): Found {
  return { message: `the attachment ${quoted(source, 120)} ${whereOf(source)}`, place }
}

function whereOf(source: string): string {
  if (isAbsolute(source)) return 'is given as an absolute path'
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(source)) return 'is given as a URL, not as a file name'
  if (/(?:^|[\\/])\.\.(?:[\\/]|$)/.test(source)) return 'refers to a file outside the results directory'
  return /^(?:\.[\\/]+)+[^\\/]*$/.test(source)
    ? 'is given as a path, not as a file name'
    : 'refers to a file in a subdirectory'
}

function isAbsolute(path: string): boolean {
  return /^(?:[\\/]|[a-z]:[\\/]|file:)/i.test(path)
}

/** Returns the finding for a file below a subdirectory. `path` starts at the root. */
export function nestedFile(path: string): Found {
  return { message: `the attachment ${quoted(path, 120)} is in a subdirectory` }
}
