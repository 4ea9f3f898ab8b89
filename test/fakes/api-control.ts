import type { ApiControl, MigrationAnswer, MigrationCall, MigrationItem } from '../../src/core/api-control.ts'
import { AdminError } from '../../src/core/error.ts'

export interface FakeApiControl extends ApiControl {
  /** Every call, oldest first, whatever its answer */
  readonly asked: readonly MigrationItem[]
}

/** Accepts every migration that is requested, unless told otherwise. Throws an answer that is an `AdminError`. */
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

/** A call whose caller ignores its progress and always allows a second request. */
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

/** Returns the service's refusal, as SPEC.md 4.3 and FIELD-NOTES.md 7 describe it. */
export function refusedMigration(httpStatus: number, said: string): MigrationAnswer {
  return { status: 'refused', httpStatus, message: `HTTP ${httpStatus}, '${said}'` }
}
