/** Names of what the lab makes on its servers. On given servers they are unique, since others use those servers too. */
export function namesOf(
  { id }: { id: string },
  given: { database: boolean; broker: boolean; sessions: boolean },
): LabNames {
  const own = `testops-lab-${id}`
  return {
    database: given.database ? own.replaceAll('-', '_') : 'testops',
    role: given.database ? own.replaceAll('-', '_') : 'testops',
    vhost: given.broker ? own : null,
    namespace: given.sessions ? `${own}:session` : 'spring:session',
  }
}

export interface LabNames {
  database: string
  role: string
  /** null: the broker's own */
  vhost: string | null
  namespace: string
}
