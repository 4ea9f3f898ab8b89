import { resolve } from 'node:path'
import { isRecord } from '../../adapters/http.ts'
import { endOf, runProgram } from '../../adapters/process.ts'
import { AdminError } from '../../core/error.ts'
import { Secret } from '../../core/secret.ts'
import { typed } from '../../core/typed.ts'
import { isSecretSetting } from '../../knowledge/settings.ts'
import type { PlatformOptions } from '../platform.ts'
import { command, nested, sentence } from '../../core/shell-command.ts'

/** The output of a sign-in program (kubernetes.io, "client-go credential plugins"). */
export interface PluginCredential {
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
export async function runPlugin(
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
      `the sign-in program of user \`${name}\` in ${file} cannot be run: ${error.message}`,
      [...error.suggestions, ...hint],
      { cause: error },
    )
  })
  if (result.exitCode !== 0) {
    // its output may be half of a credential
    const end = endOf({ ...result, stdout: '' })
    throw new AdminError(
      'UNAUTHENTICATED',
      `the sign-in program of user \`${name}\` in ${file} failed: \`${typed(shown)}\` ${end}`,
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
      `\`${typed(words)}\` prints no credential: it must be an ExecCredential with a token or a certificate`,
      [command`${nested(typed(words))} | wc   # it prints secrets`],
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
