import type { Cause } from './tally.ts'

/** A cause, judged together with the others. */
export interface JudgedCause extends Cause {
  /** When it was over, if its kind alone would be a problem */
  readonly overBy?: Date
  /** The fault that it is part of, if its kind alone would point to another one */
  readonly partOf?: 'lock-stolen'
}

/** Maximum milliseconds between release and refusal: Liquibase releases the lock as it gives up (FIELD-NOTES.md 2). */
const breathMs = 2000

/**
 * Judges causes together. A start that waits for the change-log lock and then gets it is normal: instances that start
 * together take turns (FIELD-NOTES.md 2). A start that was refused the lock ended, whatever a later one did. If it
 * released the lock at its end, the lock is not stuck, but its holder may still be at work without it.
 */
export function judged(causes: readonly Cause[]): readonly JudgedCause[] {
  const lastOf = (id: Cause['id']): Date | null => causes.find((it) => it.id === id)?.last ?? null
  const taken = lastOf('lock-taken')
  const isStolen = isReleasedInVain(lastOf('lock-waiting'), lastOf('lock-released'), lastOf('lock-refused'), taken)
  return causes.map((cause) => {
    if (isStolen && (cause.id === 'lock-refused' || cause.id === 'lock-waiting'))
      return { ...cause, partOf: 'lock-stolen' as const }
    const isOver =
      cause.id === 'lock-waiting' && cause.untimed === 0 && cause.last !== null && taken !== null && taken >= cause.last
    return isOver ? { ...cause, severity: 'info' as const, overBy: taken } : cause
  })
}

function isReleasedInVain(
  waited: Date | null,
  released: Date | null,
  refused: Date | null,
  taken: Date | null,
): boolean {
  if (waited === null || released === null || refused === null) return false
  const isInOrder = waited <= released && released <= refused && refused.getTime() - released.getTime() <= breathMs
  return isInOrder && (taken === null || taken < waited || taken > refused)
}
