import { readFile } from 'node:fs/promises'
import { endOf, runProgram } from '../../adapters/process.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import { Secret } from '../../core/secret.ts'
import type { Environment } from '../paths.ts'
import type { FileReference, SecretReference } from './nodes.ts'

export interface SecretOptions {
  environment: Environment
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/**
 * Fetches a secret from where the configuration says it is kept; an end of line at its end is not part of it.
 * Throws SECRET_MISSING with the line, UNAVAILABLE for a form that this platform cannot read, TIMED_OUT.
 */
export async function readSecret(reference: SecretReference, options: SecretOptions): Promise<Secret> {
  switch (reference.form) {
    case 'env':
      return secretOf(options.environment[reference.variable], `the environment variable ${reference.variable}`, reference.at)
    case 'file':
      return secretOf(
        await contentOf({ path: reference.path, at: reference.at }, 'the secret file'),
        `the file ${reference.path}`,
        reference.at,
      )
    case 'command':
      return fromCommand(reference, options)
    case 'kubernetesSecret':
      throw new AdminError(
        'UNAVAILABLE',
        `the secret \`${reference.name}\` at ${reference.at} lies in a cluster, which this version does not read`,
        ['use {command: [kubectl, get, secret, …]}, {env: NAME} or {file: PATH}'],
      )
  }
}

/** Whether the secret is known to be missing without running anything: throws what `readSecret` would throw. */
export async function requireSecret(reference: SecretReference, options: SecretOptions): Promise<void> {
  if (reference.form === 'env' || reference.form === 'file') await readSecret(reference, options)
}

/** The text of a PEM file that the configuration names. Throws CONFIGURATION with the line. */
export async function readCertificates(reference: FileReference): Promise<string> {
  const text = await contentOf(reference, 'the certificate file')
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new AdminError('CONFIGURATION', `the file ${reference.path} (${reference.at}) holds no certificate in PEM form`)
}

async function fromCommand(reference: SecretReference & { form: 'command' }, options: SecretOptions): Promise<Secret> {
  const [program = '', ...parameters] = reference.command
  const what = `the command \`${reference.command.join(' ')}\``
  const { timeoutMs, signal } = options
  try {
    const result = await runProgram([program, ...parameters], { timeoutMs, maxBytes: 100_000, ...(signal && { signal }) })
    if (result.exitCode === 0) return secretOf(result.stdout, what, reference.at)
    // what it printed may be half of the secret
    throw missing(`${what} ${endOf({ ...result, stdout: '' })}`, reference.at)
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'SECRET_MISSING' || error.code === 'INTERRUPTED') throw error
    throw new AdminError(error.code, `${error.message} (the secret at ${reference.at})`, error.suggestions, { cause: error })
  }
}

function secretOf(value: string | undefined, what: string, at: string): Secret {
  const content = value?.replace(/\r?\n$/, '')
  if (content === undefined) throw missing(`${what} is not set`, at)
  if (content === '') throw missing(`${what} is empty`, at)
  return new Secret(content)
}

function missing(what: string, at: string): AdminError {
  return new AdminError('SECRET_MISSING', `the secret at ${at} is missing: ${what}`)
}

async function contentOf({ path, at }: FileReference, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const reason =
      code === 'ENOENT'
        ? 'there is no such file'
        : code === 'EACCES'
          ? 'permission denied'
          : code === 'EISDIR'
            ? 'it is a directory'
            : messageOf(error)
    const hint = code === 'EACCES' ? [`ls -l ${path}`] : []
    throw new AdminError(
      what === 'the secret file' ? 'SECRET_MISSING' : 'CONFIGURATION',
      `cannot read ${what} ${path} (${at}): ${reason}`,
      hint,
      { cause: error },
    )
  }
}
