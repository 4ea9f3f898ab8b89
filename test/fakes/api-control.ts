import type { ApiControl, MigrationAnswer, MigrationCall, MigrationItem } from '../../src/core/api-control.ts'
import { AdminError } from '../../src/core/error.ts'

export interface FakeApiControl extends ApiControl {
  /** every call, oldest first, whatever its answer was */
  readonly asked: readonly MigrationItem[]
}

/** Takes every migration that it is asked for, unless told otherwise: an `AdminError` is thrown. */
export function fakeApiControl(
  answer: (
    item: MigrationItem,
    call: MigrationCall,
  ) => MigrationAnswer | AdminError | Promise<MigrationAnswer | AdminError> = () => ({ status: 'accepted' }),
): FakeApiControl {
  const asked: MigrationItem[] = []
  return {
    target: 'https://testops.example.org',
    asked,
    async migrateTrees({ project, tree }, call) {
      const { signal, underway } = call
      underway(false)
      signal.throwIfAborted()
      asked.push({ project, tree })
      underway(true)
      const answered = await answer({ project, tree }, call)
      signal.throwIfAborted()
      underway(false)
      if (answered instanceof AdminError) throw answered
      return answered
    },
  }
}

/** A call whose reader has no use for what else may come of it. */
export function migrationCall(of: Partial<MigrationCall> = {}): MigrationCall {
  return {
    signal: new AbortController().signal,
    patienceMs: 3000,
    again: async () => true,
    underway: () => undefined,
    waiting: () => undefined,
    ...of,
  }
}

/** How the service refuses, as SPEC.md 4.3 and FIELD-NOTES.md 7 have it. */
export function refusedMigration(httpStatus: number, said: string): MigrationAnswer {
  return { status: 'refused', httpStatus, message: `HTTP ${httpStatus}, '${said}'` }
}
