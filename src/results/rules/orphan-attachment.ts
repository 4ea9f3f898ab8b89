import type { Found } from '../problem.ts'

/** Of a file in the root of the results directory that no result, container or other known file names. */
export function orphanAttachment(name: string): Found {
  return /-result\.json/i.test(name)
    ? { message: `no result names this file; if it is a result itself, its name must end in -result.json` }
    : { message: 'no result names this file' }
}
