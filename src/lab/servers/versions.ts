import { deniesTransientQueues, transientQueues } from '../../knowledge/broker.ts'
import type { RabbitmqLine } from './types.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/** The product needs 15 or later (FIELD-NOTES.md 0). */
export const oldestPostgres = 15

export const lineNames: Readonly<Record<RabbitmqLine, Suggestion>> = {
  '3': 'one before 4.0',
  '4.0': '4.0 to 4.2',
  // every 4.x can be configured to refuse them
  '4.3': '4.0 or later',
  '4.3-permitting': '4.3 or later',
}

export function isOfLine(version: string, line: RabbitmqLine): boolean {
  const isFour = Number.parseInt(version, 10) >= 4
  const deniesByItself = deniesTransientQueues(version) === true
  if (line === '3') return !isFour
  if (line === '4.3-permitting') return deniesByItself
  return isFour && (line === '4.3' || !deniesByItself)
}

/** Returns configuration lines that permit or refuse transient queues; none if the default is right. */
export function permission(line: RabbitmqLine | undefined): readonly string[] {
  if (line !== '4.3' && line !== '4.3-permitting') return []
  return [`${transientQueues.permitSetting} = ${String(line === '4.3-permitting')}`]
}
