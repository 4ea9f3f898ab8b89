/**
 * Remembers, on the workload itself, how many replicas it had when it was stopped: whoever starts it may be on another
 * machine.
 */
export const replicasAnnotation = 'testops-admin/replicas'

/** A number of replicas as that annotation or a note holds it; null: it holds none. */
export function replicasIn(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,3}$/.test(text) ? Number(text) : null
}
