import { setTimeout as sleep } from 'node:timers/promises'
import { defaultVendor, settingNames, springSettings } from '../../knowledge/settings.ts'
import { onSessions, removeSessions, signInUsers } from '../access/sessions.ts'
import { setMachine } from '../control.ts'
import type { Expected, Fault } from '../fault.ts'
import { nothing, notInDrills, serviceFails } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { serversOf } from '../lab.ts'
import { stopServer } from '../servers/index.ts'
import { restartLabService, waitUntilServing } from '../service.ts'
import { sessionHours } from '../settings.ts'

export const sessionsDown: Fault = {
  id: 'sessions-down',
  kind: 'fault',
  title: 'the session store is not running',
  repair: 'start Redis',
  notInDrills: notInDrills.server,
  cases: [
    {
      variant: null,
      made: 'Redis is stopped',
      expected: { exitCode: 1, problems: { 'sessions/reachable': 'error' }, allowedConsequences: serviceFails },
      needs: { own: ['redis'] },
      async apply(lab) {
        await stopServer((await serversOf(lab)).redis)
      },
      revert: nothing,
    },
  ],
}

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
      made:
        "users sign in while the service's clock is 3 h ahead; after the clock is corrected, their sessions " +
        'begin in the future, so they are not active yet',
      expected,
      repairedBy: ['flush-sessions', '--stale'],
      needs: { serving: true },
      apply: (lab) => signInAt(lab, 3 * hour),
      revert: removeSessions,
    },
    {
      variant: 'behind',
      made:
        "users sign in while the service's clock is 10 h behind, and get 8-hour sessions in the indexed session " +
        'store; after the clock is corrected, these sessions have expired but stay in the store',
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

const filler = 'report-cache:export'
/** Bytes of memory left above Redis's use: much more than a client's buffers, which vary. */
const roomBytes = 16_000_000

export const storeFull: Fault = {
  id: 'store-full',
  kind: 'fault',
  title: 'the session store is at its memory limit',
  repair: "raise Redis's maxmemory, or remove other programs' data from Redis",
  notInDrills: 'its repair needs redis-cli, which this machine may not have',
  cases: [
    {
      variant: null,
      made: "Redis gets a memory limit 16 MB above its current use, and another program's cache fills that memory",
      expected: { exitCode: 1, problems: { 'sessions/memory': 'error' }, allowedConsequences: [] },
      needs: { own: ['redis'] },
      async apply(lab) {
        await onSessions(lab, async (redis) => {
          const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1] ?? 0)
          await redis.config('SET', 'maxmemory-policy', 'noeviction')
          await redis.config('SET', 'maxmemory', String(used + roomBytes))
          for (const size of [100_000, 1000]) {
            const piece = 'x'.repeat(size)
            for (let number = 0; number < 1000; number += 1) {
              if ((await redis.set(`${filler}:${size}:${number}`, piece).catch(() => null)) === null) break
            }
          }
        })
      },
      async revert(lab) {
        await onSessions(lab, async (redis) => {
          await redis.config('SET', 'maxmemory', '0')
          const keys = await redis.keys(`${filler}:*`)
          if (keys.length > 0) await redis.unlink(...keys)
        })
      },
    },
  ],
}

export const indexedSessions: Fault = {
  id: 'indexed-sessions',
  kind: 'healthy',
  title: 'an indexed session store keeps the hash of each session until 300 s after the session expires',
  repair: 'nothing to do',
  cases: [
    {
      variant: null,
      made: 'users sign in, and their sessions in the indexed session store expire after 1 s',
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      changes: {
        environment: {
          [springSettings.sessionRepositoryType]: 'indexed',
          [settingNames(defaultVendor).redisSessionTtl]: '1s',
        },
      },
      needs: { serving: true },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
        await signInUsers(lab, 5)
        await sleep(1500)
      },
      revert: removeSessions,
    },
  ],
}

const zone = 'Asia/Tokyo'

export const jvmTimeZone: Fault = {
  id: 'jvm-time-zone',
  kind: 'healthy',
  title: "the service's JVM is in a different time zone from everything else",
  repair: 'nothing to do',
  cases: [
    {
      variant: null,
      made:
        `the service was restarted with TZ set to ${zone} in its settings, and the configuration names the same ` +
        'time zone; users have signed in since',
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      changes: { environment: { [springSettings.timeZone]: zone }, declared: { timeZone: zone } },
      needs: { serving: true },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
        await signInUsers(lab, 3)
      },
      revert: removeSessions,
    },
  ],
}
