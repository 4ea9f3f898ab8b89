import type { KubeConfig, User } from '@kubernetes/client-node'
import type { Authenticator } from '@kubernetes/client-node/dist/auth.js'
import { validateHeaderValue } from 'node:http'
import type { RequestOptions } from 'node:https'
import { dirname } from 'node:path'
import { isRecord } from '../../adapters/http.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import type { PlatformOptions } from '../platform.ts'
import type { Access } from './access.ts'
import { runPlugin } from './exec-plugin.ts'
import type { PluginCredential } from './exec-plugin.ts'
import { newKubeConfig } from './kubeconfig-file.ts'
import { asPath, command } from '../../core/shell-command.ts'

/** What each request carries to show who asks, and what it verifies the API server with. */
export type Credentials = Pick<RequestOptions, 'auth' | 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'> & {
  headers: Record<string, string>
}

export interface CredentialSource {
  /**
   * Returns the credentials as they are now; `options`: for the program of an `exec`. Throws CONFIGURATION,
   * UNAUTHENTICATED, and what that program throws
   */
  current(options: PlatformOptions): Promise<Credentials>
  /** Discards credentials that were refused; true if `current` may have others now */
  renew(): boolean
}

/** Returns the credentials of a context's user, by the client library of Kubernetes. Reads nothing yet. */
export function credentialsOf(access: Access): CredentialSource {
  // the library keeps this object, while each question may have other options
  const asking: { options: PlatformOptions } = { options: { timeoutMs: 0 } }
  let config: Promise<KubeConfig> | null = null
  return {
    async current(options) {
      asking.options = options
      const applied: Omit<RequestOptions, 'headers'> & { headers: Record<string, string> } = { headers: {} }
      try {
        await (await (config ??= configOf(access, asking))).applyToHTTPSOptions(applied)
      } catch (error) {
        throw failure(error, access)
      }
      const {
        agent: _,
        headers: { Authorization: authorization, ...headers },
        ...given
      } = applied
      if (isRecord(access.user?.authProvider) && authorization === undefined)
        throw failure(new Error('it gives no token'), access)
      // a token's file ends with a line break, which the library takes as part of the token
      const sent = { ...headers, ...(authorization !== undefined && { Authorization: authorization.trim() }) }
      if (!Object.entries(sent).every(isSendable)) {
        throw new AdminError(
          'UNAUTHENTICATED',
          `${whoIs(access)} cannot sign in: the token or the name contains a character that cannot be sent, such as a line break`,
          ['kubectl auth whoami'],
        )
      }
      return { ...given, headers: sent }
    },
    renew() {
      // the library keeps a token until it expires, even if the server rejects it
      config = null
      return access.user?.exec != null || access.user?.authProvider != null
    },
  }
}

const plugin = 'exec-with-deadline'

async function configOf(
  { context, cluster, user, file }: Access,
  asking: { readonly options: PlatformOptions },
): Promise<KubeConfig> {
  const config = await newKubeConfig()
  const who: User = user ?? { name: 'nobody' }
  const name = context ?? cluster.name
  config.loadFromOptions({
    // the library accepts plain HTTP only with this
    clusters: [{ ...cluster, ...(cluster.server.startsWith('http:') && { skipTLSVerify: true }) }],
    users: [isRecord(who.exec) ? { ...who, exec: undefined, authProvider: { name: plugin, config: who.exec } } : who],
    contexts: [{ name, cluster: cluster.name, user: who.name }],
    currentContext: name,
  })
  config.addAuthenticator(pluginAuthenticator({ name: who.name, file, folder: dirname(file) }, asking))
  return config
}

/**
 * Replaces the library's own authenticator, which waits without end, does not know whether it may ask, and may quote
 * what the program printed.
 */
function pluginAuthenticator(
  whose: { name: string; file: string; folder: string },
  asking: { readonly options: PlatformOptions },
): Authenticator {
  let known: PluginCredential | null = null
  return {
    isAuthProvider: ({ authProvider }) => isRecord(authProvider) && authProvider['name'] === plugin,
    async applyAuthentication({ authProvider }, applied) {
      if (known === null || (known.expiresAt !== null && known.expiresAt.getTime() <= Date.now())) {
        known = await runPlugin(whose, (authProvider as { config: Record<string, unknown> }).config, asking.options)
      }
      if (known.certificate !== null) applied.cert = known.certificate
      if (known.key) applied.key = known.key.reveal()
      if (known.token)
        Object.assign(applied, { headers: { ...applied.headers, Authorization: `Bearer ${known.token.reveal()}` } })
    },
  }
}

function isSendable([name, value]: [string, string | readonly string[]]): boolean {
  try {
    for (const it of [value].flat()) validateHeaderValue(name, it)
    return true
  } catch {
    return false
  }
}

function whoIs({ user, file }: Access): string {
  return `the user \`${user?.name ?? ''}\` of ${file}`
}

function failure(error: unknown, access: Access): AdminError {
  if (error instanceof AdminError) return error
  const { user } = access
  const who = whoIs(access)
  const { path } = error as { path?: string }
  if (codeOf(error) !== undefined && path !== undefined) {
    return new AdminError(
      'CONFIGURATION',
      `the credentials of ${who} cannot be read: ${messageOf(error)}`,
      [command`ls -l ${asPath(path)}`],
      { cause: error },
    )
  }
  const auth: unknown = user?.authProvider
  const provider = isRecord(auth) ? auth['name'] : null
  return new AdminError(
    'UNAUTHENTICATED',
    `${who} cannot sign in with its auth-provider \`${typeof provider === 'string' ? provider : 'unknown'}\`: ${messageOf(error)}`,
    ['kubectl auth whoami'],
    { cause: error },
  )
}
