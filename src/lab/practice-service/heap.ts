import type { Environment } from './settings.ts'

/** The last line and the exit code of a JVM that runs out of memory (java(1), `-XX:+ExitOnOutOfMemoryError`). */
export const heapRefusal = {
  exitCode: 3,
  line: 'Terminating due to java.lang.OutOfMemoryError: Java heap space',
} as const

/** the least that the service needs */
const leastBytes = 256 * 1_048_576
const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1_048_576, g: 1_073_741_824 }

/** True if JAVA_TOOL_OPTIONS gives the JVM enough heap to start. */
export function heapSuffices({ JAVA_TOOL_OPTIONS: options = '' }: Environment): boolean {
  const [, count, unit = ''] = /(?:^|\s)-Xmx(\d+)([kmg]?)(?=\s|$)/i.exec(options) ?? []
  return count === undefined || Number(count) * units[unit.toLowerCase()]! >= leastBytes
}
