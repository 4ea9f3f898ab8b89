import type { RunState } from '../../src/core/run-state.ts'
import type { RunsSource } from '../../src/core/sources.ts'
import { fake } from './fake.ts'
import type { Answers } from './fake.ts'

/** A machine on which nothing was ever repaired, unless told otherwise. */
export function fakeRuns(answers: Answers<RunsSource> = {}): RunsSource {
  return fake<RunsSource>(
    {
      target: '/home/op/.local/state/testops-admin/prod/runs',
      list: [],
      journals: [],
      inDeployment: [],
      operator: null,
    },
    ['list', 'journals', 'inDeployment', 'operator'],
    answers,
  )
}

/** A run that was killed while it released the lock, unless told otherwise. */
export function runState(of: Partial<RunState> = {}): RunState {
  return {
    run: '20261121T021244Z-unlock-changelog-1f3a',
    repair: 'unlock-changelog',
    by: 'op@bastion',
    startedAt: '2026-11-21T02:12:44.000Z',
    state: 'unfinished',
    done: 1,
    steps: 3,
    within: 'release the lock in public.databasechangeloglock',
    ...of,
  }
}
