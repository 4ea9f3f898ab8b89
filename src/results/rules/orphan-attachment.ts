import type { Found } from '../problem.ts'

/** Returns the finding for a file in the results directory's root that no result, container or known file names. */
export function orphanAttachment(name: string): Found {
  return /-result\.json/i.test(name)
    ? { message: `no result refers to this file. If it is a result file, its name must end in \`-result.json\`` }
    : { message: 'no result refers to this file' }
}
