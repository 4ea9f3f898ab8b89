import type { Cause } from './tally.ts'

/** A cause as it is judged beside the others. */
export interface JudgedCause extends Cause {
  /** since when it is over, where its kind alone would be a problem */
  readonly overBy?: Date
}

/**
 * Who waits for the change-log lock and then gets it has started as usual: several instances that start together take turns
 * (FIELD-NOTES.md 2). A start that was refused the lock ended, whatever a later one did.
 */
export function judged(causes: readonly Cause[]): readonly JudgedCause[] {
  const taken = causes.find(({ id }) => id === 'lock-taken')?.last ?? null
  return causes.map((cause) => {
    const isOver = cause.id === 'lock-waiting' && cause.untimed === 0 && cause.last !== null && taken !== null && taken >= cause.last
    return isOver ? { ...cause, severity: 'info' as const, overBy: taken } : cause
  })
}
