import type { AdminError } from '../core/error.ts'
import type { PlatformOptions, Seen } from './platform.ts'
import type { Suggestion } from '../core/shell-command.ts'

/** A deployment that was found without a configuration. */
export interface Found {
  /** compose project, unit, or release */
  name: string
  /** for people: 'compose project `testops` (service testops, image …)' */
  what: string
  /** what a configuration would say of it */
  place:
    | { platform: 'host'; unit: string }
    | { platform: 'compose'; project: string; service: string; file: string | null }
    | { platform: 'kubernetes'; context: string | null; namespace: string; release: string }
  /** what was opened to find it, kept for who opens it next */
  seen?: Seen
}

/** What one platform found, and where it searched, for people. */
interface Search {
  found: readonly Found[]
  looked: string
  /** what could not be asked, and why: there may be more */
  unseen?: string
  /** what to type about that */
  next?: readonly Suggestion[]
  /** what is named there as the place to look at, and did not answer: nothing can be said of what is there */
  failure?: AdminError
}

export interface FinderOptions extends PlatformOptions {
  /** absolute: where a compose file is looked for */
  folder: string
  /** what was opened is kept where just one is found, for who opens that next */
  isKept?: boolean
}

/**
 * Looks for deployments on one platform. A tool that is not installed is no error: `looked` says so. Throws what asking
 * it throws.
 */
export type Finder = (options: FinderOptions) => Promise<Search>
