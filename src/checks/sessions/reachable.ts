import { defineCheck } from '../../core/check.ts'
import { springSettings } from '../../knowledge/settings.ts'
import { serviceFails } from '../support/consequences.ts'
import { keptIn, server, unopened } from '../support/unopened.ts'
import { command, nested } from '../../core/shell-command.ts'

const kept = keptIn('sessions', springSettings.redisHost)

export const sessionsReachable = defineCheck({
  id: 'sessions/reachable',
  title: 'session store answers',
  reads: ['sessions'],
  guards: 'sessions',
  explains: serviceFails,
  unopened: unopened('sessions/reachable', {
    ...server('Redis', { unit: 'redis*', service: 'redis-server' }, kept),
    secret: 'sessions',
    tls: {
      scheme: "the session store's address (rediss:// is encrypted, redis:// is not)",
      key: 'sessions: {ca: FILE}',
    },
    said: {
      UNAUTHENTICATED: `Correct the user name or the password (${kept}).`,
      UNAVAILABLE:
        `Correct the database number or the master's name (${kept}). If the message names a command that was ` +
        'renamed or disabled, enable it again.',
      FORBIDDEN:
        'In the ACL of Redis, give this user the permission that the message names, or configure another user ' +
        `(${kept}). If Redis is in protected mode, set a password in Redis.`,
    },
  }),
  remedy: {
    text: 'Wait until Redis has loaded its data.',
    commands: ['testops-admin doctor -d {deployment} --only sessions/reachable --wait'],
  },
  async run({ sessions }) {
    const { version, role, loading } = await sessions.identity()
    if (loading) {
      const message = `Redis at ${sessions.target} is still loading its data and does not answer yet`
      return {
        status: 'problem',
        severity: 'error',
        findings: [{ message, evidence: [command`${nested(sessions.client)} INFO persistence`, 'loading:1'] }],
      }
    }
    if (role === 'slave') {
      const message =
        `Redis ${version} at ${sessions.target} is a replica: ` + 'it accepts no writes, so it cannot store sessions'
      return {
        status: 'problem',
        severity: 'error',
        findings: [{ message, evidence: [command`${nested(sessions.client)} INFO replication`, `role:${role}`] }],
        remedy: {
          text:
            `Use the address of the master (${kept}). If the master is lost, make this replica the master. When ` +
            'the old master is back, it must become a replica of the new one.',
          commands: [
            command`${nested(sessions.client)} INFO replication   # master_host`,
            'testops-admin doctor -d {deployment} --only sessions/reachable',
          ],
        },
      }
    }
    return { status: 'ok', detail: `Redis ${version} at ${sessions.target} answers as ${role}` }
  },
})
