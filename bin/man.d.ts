/** A command as oclif's manifest lists it, as far as its page needs it. */
export interface PagedCommand {
  id: string
  summary?: string
  description?: string
  hidden?: boolean
  args: Readonly<Record<string, { name: string; required?: boolean; description?: string }>>
  flags: Readonly<Record<string, { hidden?: boolean; summary?: string }>>
  examples?: readonly (string | { description?: string; command: string })[]
}

/** Returns the text of each page in roff, by its file name. */
export function manPages(
  commands: Readonly<Record<string, PagedCommand>>,
  about: { version: string; description: string },
): ReadonlyMap<string, string>
