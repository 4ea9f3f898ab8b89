import type { Found } from '../problem.ts'

/** Of a file in the root of the results directory that no result, container or other known file names. */
export function orphanAttachment(name: string): Found {
  return /-result\.json/i.test(name)
    ? { message: `the file is named by no result, and its name does not end in -result.json, as that of a result does` }
    : { message: 'the file is named by no result' }
}
