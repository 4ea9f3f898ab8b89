import { resolve } from 'node:path'

/**
 * Returns a command that works from any folder. A relative path to the program is relative to the configuration, never
 * to the working directory, where others may write; a plain name is looked up in PATH.
 */
export function commandOf([program = '', ...parameters]: readonly string[], folder: string): [string, ...string[]] {
  return [program.includes('/') ? resolve(folder, program) : program, ...parameters]
}
