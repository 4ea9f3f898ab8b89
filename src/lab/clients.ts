import { AdminError, messageOf } from '../core/error.ts'
import { apiUse } from '../knowledge/api.ts'

interface Call {
  path: string
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | URLSearchParams
  /** the status that the answer must have; with another, the fault was not made */
  answered: number
}

/**
 * Returns a function that calls the service as the program `agent` and returns the answer's text. It throws FAILED if
 * the call fails or has another status than `answered`.
 */
export function client(base: string, agent: string): (call: Call) => Promise<string> {
  return async ({ path, method = 'GET', headers = {}, body, answered }) => {
    let said: string
    try {
      const answer = await fetch(`${base}${path}`, {
        method,
        headers: { 'user-agent': agent, connection: 'close', ...headers },
        redirect: 'manual',
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(20_000),
      })
      const text = await answer.text()
      if (answer.status === answered) return text
      said = `returned ${answer.status} instead of ${answered}`
    } catch (error) {
      said = `failed: ${messageOf(error)}`
    }
    throw new AdminError('FAILED', `the lab's request ${method} ${path} (as ${agent}) ${said}`, [
      'testops-admin lab mend',
    ])
  }
}

/** Signs a program in with its API token and returns its headers. */
export async function bearerOf(call: ReturnType<typeof client>, apiToken: string): Promise<{ authorization: string }> {
  const body = new URLSearchParams({ grant_type: 'apitoken', scope: 'openid', token: apiToken })
  const text = await call({ path: apiUse.exchange, method: 'POST', body, answered: 200 })
  return { authorization: `Bearer ${(JSON.parse(text) as { access_token: string }).access_token}` }
}
