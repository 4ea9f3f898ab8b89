import { readFile } from 'node:fs/promises'
import { hostname, machine } from 'node:os'
import { AdminError, messageOf } from '../../core/error.ts'
import type { Machine } from '../../core/sources.ts'
import {
  architectureIn,
  firmwareFiles,
  hypervisorNamed,
  isCutShort,
  isVirtual,
  parseCpuinfo,
} from '../../knowledge/processors.ts'
import { asPath, command } from '../../core/shell-command.ts'

/** Reads this machine, with processors from the given file or its own. Throws UNAVAILABLE, UNEXPECTED_ANSWER. */
export async function readMachine(cpuinfo: string | null): Promise<Machine> {
  const file = cpuinfo ?? '/proc/cpuinfo'
  const text = await textOf(file)
  const processors = parseCpuinfo(text)
  if (isCutShort(text))
    throw new AdminError('UNEXPECTED_ANSWER', `${file} is incomplete: the flags of some processors are missing`, [
      command`tail -n 30 ${asPath(file)}`,
    ])
  // other architectures have no such flags, and need none
  if (processors.length === 0 && (cpuinfo !== null ? architectureIn(text) === null : machine() === 'x86_64')) {
    throw new AdminError('UNEXPECTED_ANSWER', `${file} contains no processor with \`flags\``, [
      command`grep -m1 flags ${asPath(file)}`,
    ])
  }
  return {
    name: hostname(),
    architecture: cpuinfo === null ? machine() : architectureIn(text),
    processors,
    // the firmware is this machine's, whatever the file says
    hypervisor: cpuinfo === null && isVirtual(processors) ? hypervisorNamed(await firmware()) : null,
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new AdminError(
      'UNAVAILABLE',
      `the processor's flags cannot be read from ${file}: ${messageOf(error)}`,
      [command`ls -l ${asPath(file)}`],
      { cause: error },
    )
  }
}

/** Reads the firmware's files; one that this user cannot read is empty. */
async function firmware(): Promise<string[]> {
  return Promise.all(firmwareFiles.map(async (file) => readFile(file, 'utf8').catch(() => '')))
}
