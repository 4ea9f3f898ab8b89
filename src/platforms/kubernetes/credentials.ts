import { validateHeaderValue } from 'node:http'
import type { RequestOptions } from 'node:https'
import { dirname, resolve } from 'node:path'
import type { KubeConfig, User } from '@kubernetes/client-node'
import type { Authenticator } from '@kubernetes/client-node/dist/auth.js'
import { isRecord } from '../../adapters/http.ts'
import { endOf, runProgram } from '../../adapters/process.ts'
import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { Secret } from '../../core/secret.ts'
import { asPath, command, nested, sentence } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { isSecretSetting } from '../../knowledge/settings.ts'
import type { PlatformOptions } from '../platform.ts'
import type { Access } from './access.ts'
import { newKubeConfig } from './kubeconfig-file.ts'

/** The output of a credential plugin (kubernetes.io, "client-go credential plugins"). */
interface PluginCredential {
  token: Secret | null
  certificate: string | null
  key: Secret | null
  /** Null if the program does not say */
  expiresAt: Date | null
}

/**
 * Runs the credential plugin of a user. Throws UNAVAILABLE if it is not installed, UNAUTHENTICATED if it fails,
 * TIMED_OUT, INTERRUPTED, UNEXPECTED_ANSWER, CONFIGURATION.
 */
async function runPlugin(
  { name, file, folder }: { name: string; file: string; folder: string },
  exec: Readonly<Record<string, unknown>>,
  options: PlatformOptions,
): Promise<PluginCredential> {
  const { command, args, env, apiVersion, installHint, interactiveMode } = exec
  if (typeof command !== 'string' || command === '') {
    throw new AdminError('CONFIGURATION', `${file}: the user \`${name}\` has an \`exec\` without a command`, [
      'kubectl config view',
    ])
  }
  const parameters = listOf(args).filter((it) => typeof it === 'string')
  const added = listOf(env)
    .filter(isRecord)
    .map((it) => [String(it['name']), String(it['value'])] as const)
  const info = { kind: 'ExecCredential', apiVersion, spec: { interactive: false } }
  const shown = [command, ...withoutSecrets(parameters)]
  const { timeoutMs, environment, signal } = options
  const result = await runProgram([command.includes('/') ? resolve(folder, command) : command, ...parameters], {
    timeoutMs,
    environment: { ...environment, ...Object.fromEntries(added), KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    maxBytes: 1_000_000,
    shown,
    terminal: interactiveMode !== 'Never',
    signal,
  }).catch((error: unknown) => {
    if (!(error instanceof AdminError) || error.code !== 'UNAVAILABLE') throw error
    const hint =
      typeof installHint === 'string' ? [sentence`the kubeconfig says: ${installHint.trim().split('\n')[0] ?? ''}`] : []
    throw new AdminError(
      'UNAVAILABLE',
      `the credential plugin of user \`${name}\` in ${file} cannot be run: ${error.message}`,
      [...error.suggestions, ...hint],
      { cause: error },
    )
  })
  if (result.exitCode !== 0) {
    // its output may be half of a credential
    const end = endOf({ ...result, stdout: '' })
    throw new AdminError(
      'UNAUTHENTICATED',
      `the credential plugin of user \`${name}\` in ${file} failed: \`${typed(shown)}\` ${end}`,
      [typed(shown)],
    )
  }
  return credentialIn(result.stdout, shown)
}

/** Masks options of a plugin that are secret, as `--oidc-client-secret` of kubelogin. */
function withoutSecrets(parameters: readonly string[]): string[] {
  return parameters.map((word, index) => {
    const [, name, value] = /^-{1,2}([^=]+)(?:=([^]*))?$/.exec(word) ?? []
    if (name !== undefined)
      return value !== undefined && isSecretSetting(asVariable(name), value) ? word.replace(value, 'SECRET') : word
    const before = /^-{1,2}([^=]+)$/.exec(parameters[index - 1] ?? '')?.[1]
    return before !== undefined && isSecretSetting(asVariable(before), word) ? 'SECRET' : word
  })
}

function asVariable(option: string): string {
  return option.replaceAll('-', '_')
}

function credentialIn(text: string, words: readonly string[]): PluginCredential {
  const answer = jsonIn(text)
  const status = isRecord(answer) ? answer['status'] : null
  const field = (key: string): string | null =>
    isRecord(status) && typeof status[key] === 'string' && status[key] !== '' ? status[key] : null
  const [token, certificate, key, expires] = [
    'token',
    'clientCertificateData',
    'clientKeyData',
    'expirationTimestamp',
  ].map(field)
  if (!token && !(certificate && key)) {
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `\`${typed(words)}\` prints no credential: it must print an ExecCredential with a token or a certificate`,
      [command`${nested(typed(words))} | wc   # shows only the size of the output, because it may contain secrets`],
    )
  }
  return {
    token: token ? new Secret(token) : null,
    certificate: certificate ?? null,
    key: key ? new Secret(key) : null,
    expiresAt: expires && !Number.isNaN(Date.parse(expires)) ? new Date(expires) : null,
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

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
        throw failure(new Error('it returned no token'), access)
      // a token's file ends with a line break, which the library takes as part of the token
      const sent = { ...headers, ...(authorization !== undefined && { Authorization: authorization.trim() }) }
      if (!Object.entries(sent).every(isSendable)) {
        throw new AdminError(
          'UNAUTHENTICATED',
          `${whoIs(access)} cannot sign in: the user's token or name contains an invalid character, such as a ` +
            'line break',
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
    `${who} cannot sign in with its auth-provider \`${typeof provider === 'string' ? provider : 'unknown'}\`: ` +
      `${messageOf(error)}`,
    ['kubectl auth whoami'],
    { cause: error },
  )
}
