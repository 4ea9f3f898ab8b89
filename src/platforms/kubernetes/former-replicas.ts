/** Annotation of the workload for the replicas that it had when it was stopped: another machine may start it. */
export const replicasAnnotation = 'testops-admin/replicas'

/** Reads a number of replicas from that annotation or from a note; null if it holds none. */
export function replicasIn(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,3}$/.test(text) ? Number(text) : null
}
