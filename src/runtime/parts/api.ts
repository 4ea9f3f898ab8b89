import { once } from '../../core/answers.ts'
import type { PartContext } from './part.ts'
import type { ApiEndpoint } from '../../core/endpoint.ts'
import { settingNames } from '../../knowledge/settings.ts'
import type { Vendor } from '../../knowledge/settings.ts'
import type { EndpointContext } from '../endpoints/context.ts'
import {
  addressUnknown,
  environmentOrNone,
  optionalCertificates,
  optionalSecret,
  parseSetting,
  reachOf,
} from '../endpoints/context.ts'
import { parseHttpAddress } from '../endpoints/addresses.ts'

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

/**
 * Returns the service's API as configured, otherwise as its own settings name it. Throws NOT_CONFIGURED,
 * SECRET_MISSING, CONFIGURATION.
 */
export async function apiEndpoint(context: EndpointContext, vendor: Vendor): Promise<ApiEndpoint> {
  const { url, apiToken, ca } = context.settings
  const baseUrl =
    url === undefined ? await discoveredUrl(context, settingNames(vendor).endpoint) : parseHttpAddress(url)
  return {
    baseUrl,
    apiToken: await optionalSecret(apiToken, context.secrets),
    ca: await optionalCertificates(ca),
    ...reachOf(context, { isConfigured: url !== undefined }),
  }
}

async function discoveredUrl(context: EndpointContext, setting: string): Promise<string> {
  const { environment, why } = await environmentOrNone(context, { isLoginTold: false })
  const url = parseSetting(environment, setting, parseHttpAddress)
  if (url === null) throw addressUnknown('address of the API', context, 'url', why)
  return url
}
