import { once } from '../../core/answers.ts'
import { apiEndpoint } from '../endpoints/api.ts'
import type { PartContext } from './part.ts'

/** The service's API, with one exchange of the token for all its callers. */
export function apiPart({ through, deployment: { vendor }, options: { timeoutMs } }: PartContext) {
  const tokens = once(async () => (await import('../../adapters/api/index.ts')).tokenKeeper())
  return {
    source: through(async (context) => {
      const endpoint = await apiEndpoint(context, vendor)
      const { openApi } = await import('../../adapters/api/index.ts')
      return openApi(endpoint, { timeoutMs, tokens: await tokens() })
    }),
    control: through(async (context) => {
      const endpoint = await apiEndpoint(context, vendor)
      const { openApiControl } = await import('../../adapters/api/index.ts')
      return openApiControl(endpoint, { timeoutMs, tokens: await tokens() })
    }),
    login: through(async (context) => {
      const endpoint = await apiEndpoint(context, vendor)
      const { openApiLogin } = await import('../../adapters/api/index.ts')
      return openApiLogin(endpoint, { timeoutMs, tokens: await tokens() })
    }),
  }
}
