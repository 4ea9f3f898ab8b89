import type { Environment } from './settings.ts'

/**
 * What a JVM that is told to end for want of memory leaves, and its exit code (java(1), `-XX:+ExitOnOutOfMemoryError`).
 */
export const heapRefusal = {
  exitCode: 3,
  line: 'Terminating due to java.lang.OutOfMemoryError: Java heap space',
} as const

/** what the service needs at least */
const leastBytes = 256 * 1_048_576
const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1_048_576, g: 1_073_741_824 }

/** Whether the heap that JAVA_TOOL_OPTIONS lets its JVM have is enough to start with. */
export function heapSuffices({ JAVA_TOOL_OPTIONS: options = '' }: Environment): boolean {
  const [, count, unit = ''] = /(?:^|\s)-Xmx(\d+)([kmg]?)(?=\s|$)/i.exec(options) ?? []
  return count === undefined || Number(count) * units[unit.toLowerCase()]! >= leastBytes
}
