import type { AdminError } from '../core/error.ts'
import type { PlatformOptions, Seen } from './platform.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** A deployment that was found without a configuration. */
export interface Found {
  /** Name of the compose project, unit or release */
  name: string
  /** Description for people: 'compose project `testops` (service testops, image …)' */
  what: string
  /** What a configuration would say about it */
  place:
    | { platform: 'host'; unit: string }
    | { platform: 'compose'; project: string; service: string; file: string | null }
    | { platform: 'kubernetes'; context: string | null; namespace: string; release: string }
  /** What was opened to find it, kept for the next that opens it */
  seen?: Seen
}

/** What one platform found, and where it searched, for people. */
interface Search {
  found: readonly Found[]
  looked: string
  /** What could not be asked, and why; it may have more deployments */
  unseen?: string
  /** What to type about that */
  next?: readonly Suggestion[]
  /** Failure of the place that is named to look at, if it did not answer; what it has is then unknown */
  failure?: AdminError
}

export interface FinderOptions extends PlatformOptions {
  /** Absolute path of the folder in which to look for a compose file */
  folder: string
  /** True if what was opened is kept for the next that opens it, if just one deployment is found */
  isKept?: boolean
}

/**
 * Looks for deployments on one platform. If a tool is not installed, `looked` says so. Throws what asking it throws.
 */
export type Finder = (options: FinderOptions) => Promise<Search>
