import { AdminError } from '../../core/error.ts'
import { readMachine } from './machine.ts'
import type { PracticeMachine } from './machine.ts'
import { readFile } from 'node:fs/promises'
import { images } from '../../knowledge/images.ts'
import { firstV3Build, isAtLeast, parseBuild } from '../../knowledge/builds.ts'
import { missingFlags, parseCpuinfo } from '../../knowledge/processors.ts'
import type { Environment } from './settings.ts'

/** A JVM's exit codes for these signals. */
const signals = { SIGTERM: 143, SIGINT: 130 } as const

/**
 * Runs the practice service as a process. Its settings come from the environment, its machine from the file in
 * LAB_MACHINE_FILE.
 */
async function main(): Promise<number> {
  const machine = await readMachine(process.env['LAB_MACHINE_FILE'])
  const refusal = !(await cpuSuffices(machine)) ? cpuRefusal : !heapSuffices(process.env) ? heapRefusal : null
  if (refusal === null) return serve(machine)
  process.stderr.write(`${refusal.line}\n`)
  return refusal.exitCode
}

async function serve(machine: PracticeMachine): Promise<number> {
  const { startPracticeService } = await import('./service.ts')
  const { StartupFailure } = await import('./log/log.ts')
  const stopping = new AbortController()
  const stopped = new Promise<number>((resolve) => {
    for (const [signal, exitCode] of Object.entries(signals)) {
      process.once(signal, () => {
        stopping.abort()
        resolve(exitCode)
      })
    }
  })
  try {
    const service = await startPracticeService(process.env, machine, { signal: stopping.signal })
    const exitCode = await stopped
    await service.stop()
    return exitCode
  } catch (error) {
    if (stopping.signal.aborted) return stopped
    if (error instanceof StartupFailure) return 1
    throw error
  }
}

/** Exit code of a program that glibc refuses to start, and the one line it prints (FIELD-NOTES.md 5). */
const cpuRefusal = { exitCode: 127, line: 'Fatal glibc error: CPU does not support x86-64-v3' } as const

/**
 * True if the image's C library starts on this processor (SPEC.md 7: the standard image needs x86-64-v3 since build
 * 526u03).
 */
async function cpuSuffices(machine: PracticeMachine): Promise<boolean> {
  const build = parseBuild(machine.build)
  if (
    machine.cpuinfo === null ||
    machine.image !== images.standard ||
    build === null ||
    !isAtLeast(build, firstV3Build)
  )
    return true
  const processors = parseCpuinfo(await readFile(machine.cpuinfo, 'utf8'))
  return missingFlags(processors, 'x86-64-v3').length === 0
}

/** The last line and the exit code of a JVM that runs out of memory (java(1), `-XX:+ExitOnOutOfMemoryError`). */
const heapRefusal = {
  exitCode: 3,
  line: 'Terminating due to java.lang.OutOfMemoryError: Java heap space',
} as const

/** Least bytes of heap that the service needs. */
const leastBytes = 256 * 1_048_576
const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1_048_576, g: 1_073_741_824 }

/** True if JAVA_TOOL_OPTIONS gives the JVM enough heap to start. */
function heapSuffices({ JAVA_TOOL_OPTIONS: options = '' }: Environment): boolean {
  const [, count, unit = ''] = /(?:^|\s)-Xmx(\d+)([kmg]?)(?=\s|$)/i.exec(options) ?? []
  return count === undefined || Number(count) * units[unit.toLowerCase()]! >= leastBytes
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof AdminError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error.exitCode
}
