import type { Found } from '../problem.ts'
import { counted, listed, quoted } from './said.ts'

/** Contents of a place where results should be. */
export interface EmptyListing {
  kind: 'missing' | 'not-a-directory' | 'no-results'
  /** some names of what is there */
  entries: readonly string[]
  childrenWithResults: readonly { path: string; results: number }[]
}

export function emptyResults({ kind, entries, childrenWithResults }: EmptyListing): Found {
  if (kind === 'missing') return { message: 'there is no such directory' }
  if (kind === 'not-a-directory') return { message: 'this is not a directory' }
  const [child] = childrenWithResults
  if (child) {
    const told = childrenWithResults.map(({ path, results }) => `${quoted(path, 120)} (${counted(results, 'result')})`)
    return {
      message: `the directory holds no *-result.json in its root, but there are results in ${listed(told, 3)}`,
      remedy: `Pass that directory instead, here and in the settings of the plugin or uploader: only files in the root are results.`,
    }
  }
  if (entries.length === 0) return { message: 'the directory is empty' }
  // a link that leads out, or a pipe, may have the name of a result
  const which = entries.some((name) => name.endsWith('-result.json')) ? ' that was read' : ''
  return {
    message: `the directory holds no *-result.json${which}; it contains ${listed(
      entries.map((name) => quoted(name)),
      3,
    )}`,
  }
}
