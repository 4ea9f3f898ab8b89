import { AdminError, messageOf } from '../core/error.ts'
import { apiUse } from '../knowledge/api-use.ts'

interface Call {
  path: string
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | URLSearchParams
  /** the status that it must be answered with: else the fault has not been made */
  answered: number
}

/**
 * A program that calls the service, under its own name. Throws FAILED where it is answered otherwise than it must be.
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
      said = `is answered ${answer.status}`
    } catch (error) {
      said = `fails: ${messageOf(error)}`
    }
    throw new AdminError('FAILED', `${method} ${path} of ${agent} ${said}, and should be answered ${answered}`, [
      'testops-admin lab mend',
    ])
  }
}

/** The headers of a program that signs in as it should. */
export async function bearerOf(call: ReturnType<typeof client>, apiToken: string): Promise<{ authorization: string }> {
  const body = new URLSearchParams({ grant_type: 'apitoken', scope: 'openid', token: apiToken })
  const text = await call({ path: apiUse.exchange, method: 'POST', body, answered: 200 })
  return { authorization: `Bearer ${(JSON.parse(text) as { access_token: string }).access_token}` }
}
