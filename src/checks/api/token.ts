import { defineCheck } from '../../core/check.ts'
import type { Outcome } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import { enterSecret } from '../../domain/by-hand.ts'
import { curl, curlAsUser, tokenExchange } from '../../domain/evidence.ts'

export const apiToken = defineCheck({
  id: 'api/token',
  title: 'API token is accepted',
  reads: ['api'],
  // not api/latency: how quickly the service answers shows without a token
  explains: ['api/roles', 'api/token-lifetime', 'trees/migrated'],
  async run({ api }, deployment): Promise<Outcome> {
    const exchange = tokenExchange(api.target)
    const exchanged = await refusal(api.accessToken())
    if (exchanged) {
      return {
        status: 'problem',
        severity: 'error',
        findings: [{ message: exchanged.message, evidence: [exchange] }],
        remedy: {
          text:
            'Create a new API token in the user menu of the web interface. Store it in the place named by ' +
            '`apiToken` in the configuration. If another service answers at the address in `url`, correct `url`.',
          commands: [enterSecret('apiToken', deployment), 'testops-admin doctor -d {deployment} --only api/token'],
        },
      }
    }
    const used = await refusal(api.currentUser())
    if (used) {
      return {
        status: 'problem',
        severity: 'error',
        findings: [{ message: used.message, evidence: [exchange, curlAsUser(api.target, '/api/uaa/me')] }],
        remedy: {
          text:
            'The service exchanges the API token for a Bearer token, but then rejects that Bearer token. Check ' +
            "the clock of the service's machine, then the log of the service.",
          commands: [curl(api.target, '/api/management/health', '-sI'), '{logs}'],
        },
      }
    }
    return {
      status: 'ok',
      detail: `${api.target} exchanges the API token for a Bearer token and accepts the Bearer token`,
    }
  },
})

async function refusal(asked: Promise<unknown>): Promise<AdminError | null> {
  try {
    await asked
    return null
  } catch (error) {
    if (error instanceof AdminError && error.code === 'UNAUTHENTICATED') return error
    throw error
  }
}
