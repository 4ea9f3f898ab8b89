import { resolve } from 'node:path'

/**
 * A command as it is run from anywhere. A program that is written as a relative path lies relative to the
 * configuration, never to the folder that this is called in, where others may write; one that is a mere name is looked
 * up in PATH.
 */
export function commandOf([program = '', ...parameters]: readonly string[], folder: string): [string, ...string[]] {
  return [program.includes('/') ? resolve(folder, program) : program, ...parameters]
}
