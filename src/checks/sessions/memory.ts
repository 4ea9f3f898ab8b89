import { defineCheck } from '../../core/check.ts'
import { byHand } from '../../domain/by-hand.ts'
import { serviceFails } from '../support/consequences.ts'
import { bytes, grouped, percent } from '../../core/format.ts'
import { command, nested } from '../../core/shell-command.ts'

const errorShare = 0.95
const warningShare = 0.85

export const sessionsMemory = defineCheck({
  id: 'sessions/memory',
  title: 'session store has memory left',
  reads: ['sessions'],
  explains: serviceFails,
  async run({ sessions }) {
    const { usedBytes, maxBytes, policy, evictedKeys } = await sessions.memory()
    if (maxBytes === 0) return { status: 'ok', detail: `${bytes(usedBytes)} used, no limit` }
    const figures = `${bytes(usedBytes)} of ${bytes(maxBytes)} used (${percent(usedBytes, maxBytes)}, policy ${policy})`
    if (usedBytes < maxBytes * warningShare) return { status: 'ok', detail: figures }
    const isFull = usedBytes >= maxBytes * errorShare
    const effect =
      policy === 'noeviction'
        ? 'new sessions are refused'
        : `Redis evicts sessions (${grouped(evictedKeys)} keys so far), which signs users out`
    const message =
      `Redis at ${sessions.target} is ${isFull ? 'full' : 'nearly full'}: ${figures}; ` +
      `${isFull ? effect : `when it is full, ${effect}`}`
    const evidence = [
      command`${nested(sessions.client)} INFO memory`,
      `used_memory:${usedBytes} maxmemory:${maxBytes} maxmemory_policy:${policy}`,
      command`${nested(sessions.client)} INFO stats`,
      `evicted_keys:${evictedKeys}`,
    ]
    return {
      status: 'problem',
      severity: isFull ? 'error' : 'warning',
      findings: [{ message, evidence }],
      remedy: {
        text:
          'Give Redis more memory, or remove stale sessions. `CONFIG SET` lasts only until Redis restarts, so ' +
          'write the limit into the configuration of Redis too.',
        commands: [
          command`${nested(sessions.client)} CONFIG SET maxmemory ${maxBytes * 2}`,
          'testops-admin flush-sessions --stale -d {deployment}',
          byHand('sessions/clock'),
        ],
        risk: 'Users whose sessions are removed are signed out.',
      },
    }
  },
})
