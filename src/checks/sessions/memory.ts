import { defineCheck } from '../../core/check.ts'
import type { Remedy } from '../../core/check.ts'
import { redisCli } from '../support/evidence.ts'
import { bytes, percent } from '../support/format.ts'

const errorShare = 0.95
const warningShare = 0.85

export const sessionsMemory = defineCheck({
  id: 'sessions/memory',
  title: 'session store has memory left',
  reads: ['sessions'],
  explains: ['service/running', 'api/reachable', 'api/token', 'api/token-lifetime', 'api/latency'],
  remedy: moreMemory('redis-cli INFO memory'),
  async run({ sessions }) {
    const { usedBytes, maxBytes, policy, evictedKeys } = await sessions.memory()
    if (maxBytes === 0) return { status: 'ok', detail: `${bytes(usedBytes)} used, no limit` }
    const figures = `${bytes(usedBytes)} of ${bytes(maxBytes)} used (${percent(usedBytes, maxBytes)}, policy ${policy})`
    if (usedBytes < maxBytes * warningShare) return { status: 'ok', detail: figures }
    const isFull = usedBytes >= maxBytes * errorShare
    const effect =
      policy === 'noeviction'
        ? 'new sessions are refused'
        : `sessions are thrown out (${evictedKeys.toLocaleString('en-US')} keys so far), which signs users out`
    const message = `Redis at ${sessions.target} is ${isFull ? 'full' : 'nearly full'}: ${figures}; ${isFull ? effect : `when it is full, ${effect}`}`
    const evidence = [
      redisCli(sessions.target, 'INFO memory'),
      `used_memory:${usedBytes} maxmemory:${maxBytes} maxmemory_policy:${policy}`,
      redisCli(sessions.target, 'INFO stats'),
      `evicted_keys:${evictedKeys}`,
    ]
    return {
      status: 'problem',
      severity: isFull ? 'error' : 'warning',
      findings: [{ message, evidence }],
      remedy: moreMemory(redisCli(sessions.target, `CONFIG SET maxmemory ${maxBytes * 2}`)),
    }
  },
})

function moreMemory(command: string): Remedy {
  return {
    text: 'Give Redis more memory, or remove sessions that are of no use any more.',
    commands: [command, 'testops-admin flush-sessions --stale -d {deployment}'],
  }
}
