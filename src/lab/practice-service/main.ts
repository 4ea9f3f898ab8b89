import { AdminError } from '../../core/error.ts'
import { cpuRefusal, cpuSuffices } from './cpu.ts'
import { heapRefusal, heapSuffices } from './heap.ts'
import { readMachine } from './machine.ts'
import type { PracticeMachine } from './machine.ts'

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
  const { StartupFailure } = await import('./startup-failure.ts')
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

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof AdminError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error.exitCode
}
