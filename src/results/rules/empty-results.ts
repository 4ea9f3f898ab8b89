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
  if (kind === 'missing') return { message: 'the directory does not exist' }
  if (kind === 'not-a-directory') return { message: 'the path is not a directory' }
  const [child] = childrenWithResults
  if (child) {
    const told = childrenWithResults.map(({ path, results }) => `${quoted(path, 120)} (${counted(results, 'result')})`)
    return {
      message:
        `the root of the directory contains no \`*-result.json\`, but ` +
        `${childrenWithResults.length === 1 ? 'a subdirectory contains' : 'subdirectories contain'} ` +
        `results: ${listed(told, 3)}`,
      remedy:
        `Use ${childrenWithResults.length === 1 ? 'this subdirectory' : 'one of these subdirectories'}, both ` +
        'for this command and in the settings of the plugin or uploader. Only files in the root of the directory ' +
        'count as results.',
    }
  }
  if (entries.length === 0) return { message: 'the directory is empty' }
  // a link that leads out, or a pipe, may have the name of a result
  const which = entries.some((name) => name.endsWith('-result.json')) ? ' that could be read' : ''
  return {
    message: `the directory contains no \`*-result.json\`${which}. Contents: ${listed(
      entries.map((name) => quoted(name)),
      3,
    )}`,
  }
}
