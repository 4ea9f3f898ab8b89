import { removeSessions } from '../access/sessions.ts'
import { setMachine } from '../control.ts'
import { springSettings } from '../../knowledge/settings.ts'
import type { Expected, Fault } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { restartLabService, waitUntilServing } from '../service.ts'
import { sessionHours } from '../settings.ts'
import { signInUsers } from '../users.ts'

const expected: Expected = { exitCode: 1, problems: { 'sessions/clock': 'error' }, allowedConsequences: [] }
const hour = 3_600_000

/** Signs users in with the service's clock `offsetMs` ahead, then sets it to what the other faults expect. */
async function signInAt(lab: Lab, offsetMs: number): Promise<void> {
  const before =
    lab.state.faults.map(({ changes }) => changes.machine?.clockOffsetMs).findLast((ms) => ms !== undefined) ?? 0
  await setMachine(lab, 'clock', offsetMs)
  await signInUsers(lab, 5)
  await setMachine(lab, 'clock', before)
}

export const staleSessions: Fault = {
  id: 'stale-sessions',
  kind: 'fault',
  title: 'sessions were written while a clock was wrong',
  repair: 'testops-admin flush-sessions --stale',
  cases: [
    {
      variant: 'ahead',
      made: "users sign in while the service's clock is three hours ahead; then it is corrected: their sessions are not yet active",
      expected,
      repairedBy: ['flush-sessions', '--stale'],
      needs: { serving: true },
      apply: (lab) => signInAt(lab, 3 * hour),
      revert: removeSessions,
    },
    {
      variant: 'behind',
      made: "users get indexed eight-hour sessions while the service's clock is ten hours behind; once it is corrected, they have expired but stay in the store",
      expected,
      repairedBy: ['flush-sessions', '--stale'],
      needs: { serving: true },
      changes: { environment: { [springSettings.sessionRepositoryType]: 'indexed' } },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
        await signInAt(lab, -(sessionHours + 2) * hour)
      },
      revert: removeSessions,
    },
  ],
}
