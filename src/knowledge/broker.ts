/** RabbitMQ's deprecated feature that non-durable, non-exclusive queues are (FIELD-NOTES.md 3). */
export const transientQueues = {
  feature: 'transient_nonexcl_queues',
  /** first version that refuses them unless it is told otherwise (FIELD-NOTES.md 3) */
  firstDenied: '4.3',
  /** reply code of the connection error on such a declaration; 406 is the channel error where a queue exists otherwise */
  replyCode: 541,
  permitSetting: 'deprecated_features.permit.transient_nonexcl_queues',
} as const

/** Whether this version refuses transient queues unless it is configured otherwise (FIELD-NOTES.md 3). Null: not a version. */
export function deniesTransientQueues(version: string): boolean | null {
  const parts = /^(\d+)\.(\d+)/.exec(version)
  if (!parts) return null
  const major = Number(parts[1])
  return major > 4 || (major === 4 && Number(parts[2]) >= 3)
}

/** Queues in which this program keeps the journal of a repair that is not finished (DESIGN.md 6.6). */
export const journalQueuePrefix = 'testops-admin.run.'

/** Queues and exchanges that RabbitMQ, Spring or this program name themselves and the service never declares (FIELD-NOTES.md 3). */
export function isBuiltIn(name: string): boolean {
  return name === '' || name.startsWith('amq.') || name.startsWith('testops-admin.')
}
