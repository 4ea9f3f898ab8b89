import { defineCheck } from '../../core/check.ts'
import { redisCli } from '../support/evidence.ts'

export const sessionsReachable = defineCheck({
  id: 'sessions/reachable',
  title: 'session store answers',
  reads: ['sessions'],
  guards: 'sessions',
  explains: ['service/running', 'api/reachable', 'api/token', 'api/token-lifetime', 'api/latency', 'trees/migrated'],
  remedy: {
    text: 'Start Redis, or correct its address or credentials. The service reconnects by itself or needs a restart.',
    commands: ['systemctl status redis-server', 'redis-cli ping', '{restart}'],
  },
  async run({ sessions }) {
    const { version, role, loading } = await sessions.identity()
    if (loading) {
      const message = `Redis at ${sessions.target} is still loading its data and answers nobody`
      return {
        status: 'problem',
        severity: 'error',
        findings: [{ message, evidence: [redisCli(sessions.target, 'INFO persistence'), 'loading:1'] }],
      }
    }
    return { status: 'ok', detail: `Redis ${version} at ${sessions.target} answers as ${role}` }
  },
})
