import type { AdminError } from './error.ts'
import type { Secret } from './secret.ts'

/** Settings of which some could not be read, not even their names: a setting missing here may still be set. */
export class PartialSettings extends Map<string, string | Secret> {
  constructor(
    entries: Iterable<readonly [string, string | Secret]>,
    readonly missing: AdminError,
  ) {
    super(entries)
  }
}
