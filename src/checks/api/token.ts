import { defineCheck } from '../../core/check.ts'
import { AdminError } from '../../core/error.ts'
import { curl } from '../support/evidence.ts'

export const apiToken = defineCheck({
  id: 'api/token',
  title: 'API token is accepted',
  reads: ['api'],
  explains: ['api/token-lifetime', 'api/latency', 'trees/migrated'],
  remedy: {
    text: "Create a new API token in the user menu of the web interface and put it where the configuration's apiToken points to.",
    commands: ['testops-admin doctor -d {deployment} --only api/token'],
  },
  async run({ api }) {
    const flags = "-i -H 'Expect:' -F grant_type=apitoken -F scope=openid -F 'token=<-'"
    // through a pipe from a shell's own word: a token among the parameters of a program is seen by everybody
    const exchange = `printf %s "$TOKEN" | ${curl(api.target, '/api/uaa/oauth/token', flags)}`
    try {
      await api.accessToken()
      await api.currentUser()
    } catch (error) {
      if (!(error instanceof AdminError) || error.code !== 'UNAUTHENTICATED') throw error
      return { status: 'problem', severity: 'error', findings: [{ message: error.message, evidence: [exchange, error.message] }] }
    }
    return { status: 'ok', detail: `${api.target} exchanges it for a Bearer token and knows its user` }
  },
})
