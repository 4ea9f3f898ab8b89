import { defineCheck } from '../../core/check.ts'
import { curl } from '../support/evidence.ts'
import { span } from '../support/format.ts'

export const apiReachable = defineCheck({
  id: 'api/reachable',
  title: "service's API answers",
  reads: ['api'],
  guards: 'api',
  explains: ['api/token', 'api/token-lifetime', 'api/latency', 'trees/migrated'],
  remedy: {
    text: 'See whether the service runs and what its log says last; a reverse proxy in front of it may be down too.',
    commands: ['{status}', '{logs}'],
  },
  async run({ api }) {
    const { httpStatus, status, durationMs } = await api.health()
    if (httpStatus === 200 && status !== null)
      return { status: 'ok', detail: `${api.target} answers ${status} after ${span(durationMs)}` }
    const said = `HTTP ${httpStatus}, ${status === null ? 'without a health status' : `status ${status}`}`
    const message =
      httpStatus === 200
        ? `${api.target} answers, but not as the service does: ${said}; is this its address?`
        : `${api.target} answers, and is not well: ${said}`
    return {
      status: 'problem',
      severity: 'error',
      findings: [{ message, evidence: [curl(api.target, '/api/management/health'), said] }],
    }
  },
})
