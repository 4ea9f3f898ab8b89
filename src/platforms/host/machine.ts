import { readFile } from 'node:fs/promises'
import { hostname, machine } from 'node:os'
import { AdminError, messageOf } from '../../core/error.ts'
import type { Machine } from '../../core/sources.ts'
import { parseCpuinfo } from '../../knowledge/cpu-levels.ts'

/** This machine, with the processors of the given file or of its own. Throws UNAVAILABLE, UNEXPECTED_ANSWER. */
export async function readMachine(cpuinfo: string | null): Promise<Machine> {
  const file = cpuinfo ?? '/proc/cpuinfo'
  const processors = parseCpuinfo(await textOf(file))
  // on other architectures there are no such flags, and none are needed
  if (processors.length === 0 && (cpuinfo !== null || machine() === 'x86_64')) {
    throw new AdminError('UNEXPECTED_ANSWER', `${file} shows no processor with \`flags\``, [`grep -m1 flags ${file}`])
  }
  const architecture = cpuinfo === null ? machine() : processors.some((flags) => flags.includes('lm')) ? 'x86_64' : null
  return { name: hostname(), architecture, processors }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new AdminError(
      'UNAVAILABLE',
      `the processor's flags cannot be read from ${file}: ${messageOf(error)}`,
      [`ls -l ${file}`],
      { cause: error },
    )
  }
}
