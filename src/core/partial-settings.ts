import type { AdminError } from './error.ts'
import type { Secret } from './secret.ts'

/** Settings of which some could not be read, not even their names: what is not among them may be set all the same. */
export class PartialSettings extends Map<string, string | Secret> {
  constructor(
    entries: Iterable<readonly [string, string | Secret]>,
    readonly missing: AdminError,
  ) {
    super(entries)
  }
}
