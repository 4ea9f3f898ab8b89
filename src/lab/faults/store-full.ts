import { onSessions } from '../access/sessions.ts'
import type { Fault } from '../fault.ts'

const filler = 'report-cache:export'
/** Bytes of memory left above Redis's use: much more than a client's buffers, which vary. */
const roomBytes = 16_000_000

export const storeFull: Fault = {
  id: 'store-full',
  kind: 'fault',
  title: 'the session store is at its memory limit',
  repair: "raise maxmemory, or remove other programs' data",
  cases: [
    {
      variant: null,
      made: "Redis gets a memory limit 16 MB above its use, and another program's cache fills it",
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
