import { Secret } from '../../../src/core/secret.ts'
import { AdminError } from '../../../src/core/error.ts'
import { isSecretSetting } from '../../../src/knowledge/settings.ts'
import { loadConfiguration, selectDeployment } from '../../../src/runtime/index.ts'
import { secretReader } from '../../../src/runtime/configuration/secrets.ts'
import type { EndpointContext, Login } from '../../../src/runtime/endpoints/context.ts'
import { folderWith } from '../folder.ts'

/** What endpoints are made of: the configuration's lines under the deployment, and the service's own settings. */
export async function situation(
  lines: string,
  settings: Readonly<Record<string, string>> | null = {},
): Promise<EndpointContext> {
  const workingDirectory = await folderWith({
    'testops-admin.yaml': `deployments:\n  prod:\n    accessLog: {file: access.log}\n${lines.replace(/^/gm, '    ')}\n`,
    'ca.pem': '-----BEGIN CERTIFICATE-----\n',
  })
  const selected = selectDeployment(await loadConfiguration({ environment: {}, workingDirectory }))
  return {
    name: selected.name,
    settings: selected.settings,
    secrets: secretReader({ environment: { PASSWORD: 'of-configuration' }, timeoutMs: 1000 }),
    async environment() {
      if (!settings) throw new AdminError('NOT_CONFIGURED', 'this version reads the service on platform `host` only')
      return new Map(
        Object.entries(settings).map(([name, value]) => [
          name,
          isSecretSetting(name, value) ? new Secret(value) : value,
        ]),
      )
    },
  }
}

/** An endpoint but for whose login it has. */
export function withoutLogin<Endpoint extends { login: Login }>({
  login: _,
  ...endpoint
}: Endpoint): Omit<Endpoint, 'login'> {
  return endpoint
}

/** Secrets in clear, so that they can be compared. */
export function clear(endpoint: unknown): unknown {
  if (endpoint instanceof Secret) return `secret ${endpoint.reveal()}`
  if (Array.isArray(endpoint)) return endpoint.map(clear)
  if (typeof endpoint !== 'object' || endpoint === null) return endpoint
  return Object.fromEntries(Object.entries(endpoint).map(([key, value]) => [key, clear(value)]))
}
