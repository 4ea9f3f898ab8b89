import type { ApiEndpoint } from '../../core/endpoint.ts'
import { settingNames } from '../../knowledge/settings.ts'
import type { Vendor } from '../../knowledge/settings.ts'
import type { EndpointContext } from './context.ts'
import {
  addressUnknown,
  environmentOrNone,
  optionalCertificates,
  optionalSecret,
  parseSetting,
  reachOf,
} from './context.ts'
import { parseHttpAddress } from './addresses.ts'

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
