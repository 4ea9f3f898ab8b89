/** The purpose of a file in the root of a results directory (FIELD-NOTES.md 6). */
export type EntryKind =
  | 'result'
  /** names attachments as results do */
  | 'container'
  /** is expected there: no other file has to name it */
  | 'known'
  | 'attachment'

const known: ReadonlySet<string> = new Set([
  'executor.json',
  'categories.json',
  'environment.properties',
  'environment.xml',
])

export function entryKind(name: string): EntryKind {
  if (name.endsWith('.json')) {
    if (name.endsWith('-result.json')) return 'result'
    if (name.endsWith('-container.json') || name.endsWith('-globals.json')) return 'container'
  }
  return name.startsWith('.') || known.has(name) ? 'known' : 'attachment'
}

/** True for directories that are not searched for attachments: those copied in for trends, and hidden ones. */
export function isPassedOver(folder: string): boolean {
  return folder === 'history' || folder.startsWith('.')
}
