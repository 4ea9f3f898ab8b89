import { basename } from 'node:path'
import { judgeMachine } from '../../domain/processors.ts'
import type { MachineVerdict } from '../../domain/processors.ts'
import type { Machine } from '../../core/sources.ts'
import type { CpuDocument, JudgedMachine } from '../../output/cpu.ts'
import { telling } from '../chosen-deployment.ts'
import { defaultTimeoutSeconds, interruptible, withInterrupts } from '../interrupt.ts'
import { readInput } from '../../runtime/read-input.ts'
import { isReadOnly } from '../repair/read-only.ts'

export interface CpuFlags {
  deployment?: string | undefined
  config?: string | undefined
  timeout?: number | undefined
  here: boolean
  /** True to run a program where the processor is; makes a pod for it only if there is no other way */
  prove?: boolean
  /** cpuinfo files; `-` is standard input */
  file: readonly string[]
}

/** Maximum bytes of a cpuinfo file: enough for thousands of processors */
const mostBytes = 64_000_000

/**
 * Judges the machines that the flags select. Throws USAGE for a file that is not a cpuinfo file, and whatever finding
 * the deployment's machines throws.
 */
export async function judgedMachines(flags: CpuFlags): Promise<CpuDocument> {
  // with `prove`, an interrupt waits until what was made for the proof is removed
  const machines = await ((flags.prove ?? false) ? withInterrupts : interruptible)((signal) => meant(flags, signal))
  return {
    schemaVersion: 1,
    machines: machines.map((it) => ({
      ...judged(judgeMachine(it)),
      ...(it.unproven !== undefined && { reason: it.unproven }),
    })),
  }
}

async function meant(
  { here, prove = false, file: files, deployment: name, config: file, timeout = defaultTimeoutSeconds }: CpuFlags,
  signal: AbortSignal,
): Promise<readonly Machine[]> {
  const { machineIn, machinesOf, thisMachine } = await import('../../runtime/index.ts')
  if (files.length > 0) {
    const texts = await Promise.all(
      files.map(async (path) =>
        readInput(path, {
          mostBytes,
          next: ['cat /proc/cpuinfo > FILE   # run this on the machine that you want to check'],
        }),
      ),
    )
    const names = namesOf(files)
    return texts.map((text, index) => machineIn(text, names[index]!))
  }
  if (here) return [await thisMachine()]
  const { tell, ...asking } = telling(signal)
  return machinesOf({
    ...(prove && { prove: { mayMakePods: !isReadOnly(), tell } }),
    name,
    file,
    timeoutMs: timeout * 1000,
    environment: process.env,
    workingDirectory: process.cwd(),
    signal,
    tell,
    ...asking,
  })
}

/** Names files by the last part of their path if that tells them apart, else by the whole path. */
function namesOf(files: readonly string[]): string[] {
  const short = files.map((it) => (it === '-' ? 'standard input' : basename(it)))
  return new Set(short).size === short.length ? short : files.map((it, index) => (it === '-' ? short[index]! : it))
}

function judged({ name, hasV3, level, missing, isVirtual, hypervisor }: MachineVerdict): JudgedMachine {
  const verdict =
    hasV3 === true ? 'has-v3' : hasV3 === false ? 'lacks-v3' : level === 'unknown' ? 'unknown' : 'other-architecture'
  return { name, level, missing, hypervisor: hypervisor ?? (isVirtual ? 'unnamed' : null), verdict }
}
