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
  return { message: `the attachment ${quoted(source, 120)} is named ${whereOf(source)}`, place }
}

function whereOf(source: string): string {
  if (isAbsolute(source)) return 'by an absolute path'
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(source)) return 'by an address'
  if (/(?:^|[\\/])\.\.(?:[\\/]|$)/.test(source)) return 'outside the results directory'
  return /^(?:\.[\\/]+)+[^\\/]*$/.test(source) ? 'with a path' : 'in a child directory'
}

function isAbsolute(path: string): boolean {
  return /^(?:[\\/]|[a-z]:[\\/]|file:)/i.test(path)
}

/** Returns the finding for a file below a child directory. `path` starts at the root. */
export function nestedFile(path: string): Found {
  return { message: `the attachment ${quoted(path, 120)} lies in a child directory` }
}
