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

/** What goes with each request to show who asks, and whom to believe that it is the API server. */
export type Credentials = Pick<RequestOptions, 'auth' | 'ca' | 'cert' | 'key' | 'rejectUnauthorized' | 'servername'> & {
  headers: Record<string, string>
}

export interface CredentialSource {
  /**
   * as they are now; `options` for the program of an `exec`. Throws CONFIGURATION, UNAUTHENTICATED, and what that
   * program throws
   */
  current(options: PlatformOptions): Promise<Credentials>
  /** they were refused; true: `current` may have others now */
  renew(): boolean
}

/** The credentials of the user of a context, by the client library of Kubernetes. Nothing is read yet. */
export function credentialsOf(access: Access): CredentialSource {
  // what the library is handed is kept for the next who asks, who may wait longer
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
      // a file of a token ends with a line's end, which the library takes for a part of it
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
      // the library keeps a token until its time is over, whatever the server says of it
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
    // the library wants to hear that plain HTTP is meant
    clusters: [{ ...cluster, ...(cluster.server.startsWith('http:') && { skipTLSVerify: true }) }],
    users: [isRecord(who.exec) ? { ...who, exec: undefined, authProvider: { name: plugin, config: who.exec } } : who],
    contexts: [{ name, cluster: cluster.name, user: who.name }],
    currentContext: name,
  })
  config.addAuthenticator(pluginAuthenticator({ name: who.name, file, folder: dirname(file) }, asking))
  return config
}

/**
 * In place of the library's own, which waits without end, is not told whether it may ask, and may quote what it
 * printed.
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
