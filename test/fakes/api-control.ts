import type { ApiControl, MigrationAnswer, MigrationItem } from '../../src/core/api-control.ts'
import { AdminError } from '../../src/core/error.ts'

export interface FakeApiControl extends ApiControl {
  /** every call, oldest first, whatever its answer was */
  readonly asked: readonly MigrationItem[]
}

/** Takes every migration that it is asked for, unless told otherwise: an `AdminError` is thrown. */
export function fakeApiControl(
  answer: (item: MigrationItem) => MigrationAnswer | AdminError | Promise<MigrationAnswer | AdminError> = () => ({ status: 'accepted' }),
): FakeApiControl {
  const asked: MigrationItem[] = []
  return {
    target: 'https://testops.example.org',
    asked,
    async migrateTrees({ project, tree }, { signal }) {
      signal.throwIfAborted()
      asked.push({ project, tree })
      const answered = await answer({ project, tree })
      signal.throwIfAborted()
      if (answered instanceof AdminError) throw answered
      return answered
    },
  }
}

/** How the service refuses, as SPEC.md 4.3 and FIELD-NOTES.md 7 have it. */
export function refusedMigration(httpStatus: number, said: string): MigrationAnswer {
  return { status: 'refused', httpStatus, message: `HTTP ${httpStatus}, '${said}'` }
}
