import { endOf, runProgram } from '../../adapters/process.ts'
import { readJudged, readUpTo, whyUnreadable } from '../../adapters/read-file.ts'
import { sharedAnswers } from '../../core/answers.ts'
import { AdminError, codeOf } from '../../core/error.ts'
import { own } from '../../core/lookup.ts'
import { Secret } from '../../core/secret.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import { asPath, command, nested } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import type { KubernetesSettings } from '../../platforms/index.ts'
import { readClusterSecret } from '../../platforms/index.ts'
import type { Environment } from '../paths.ts'
import type { FileReference, SecretReference } from './nodes.ts'

export interface SecretOptions {
  environment: Environment
  /** Milliseconds for each secret */
  timeoutMs: number
  signal?: AbortSignal | undefined
  /** Where Secrets of a cluster are read; kubectl's current context by default */
  cluster?: KubernetesSettings
}

/**
 * Reads a secret from where the configuration says it is kept, without the line end at its end. Throws SECRET_MISSING
 * with the line if the secret is unavailable, INTERRUPTED.
 */
export type SecretReader = (reference: SecretReference) => Promise<Secret>

const maxSecretBytes = 100_000
const maxCertificateBytes = 1_000_000

/** Returns a reader that reads each secret once: a pipe can be read only once, and a command may ask a person. */
export function secretReader(options: SecretOptions): SecretReader {
  const fetched = sharedAnswers({ keep: 'everything' })
  return async (reference) => fetched.to(JSON.stringify(reference), async () => fetch(reference, options))
}

/**
 * Reads the secrets of these settings that are kept in such places, so that they are hidden in whatever is shown from
 * now on. What cannot be read is left out: the part that needs it says why. Throws INTERRUPTED.
 */
export async function knowSecrets(
  settings: unknown,
  forms: readonly SecretReference['form'][],
  options: SecretOptions,
): Promise<void> {
  const read = secretReader(options)
  const known = async (reference: SecretReference): Promise<void> => {
    await read(reference).catch((error: unknown) => {
      if (error instanceof AdminError && error.code === 'SECRET_MISSING') return
      throw error
    })
  }
  await Promise.all(referencesIn(settings).flatMap((it) => (forms.includes(it.form) ? [known(it)] : [])))
}

function referencesIn(value: unknown): SecretReference[] {
  if (typeof value !== 'object' || value === null) return []
  if ('form' in value && 'at' in value) return [value as SecretReference]
  const parts: unknown[] = value instanceof Map ? [...value.values()] : Object.values(value)
  return parts.flatMap((it) => referencesIn(it))
}

/** Returns the text of a PEM file that the configuration names. Throws CONFIGURATION with the line. */
export async function readCertificates({ path, at }: FileReference): Promise<string> {
  const unusable = (why: string, hints: readonly Suggestion[] = [], cause?: unknown): AdminError =>
    new AdminError('CONFIGURATION', `the certificate file ${path} (${at}) cannot be used: ${why}`, hints, { cause })
  const content = await readJudged(path, maxCertificateBytes, () => undefined).catch((error: unknown) => {
    throw unusable(whyUnreadable(error), hintsOn(error, path), error)
  })
  const text = content?.toString() ?? ''
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw unusable('the file contains no certificate in PEM format')
}

/** Returns where the secret is kept, in the operator's words. */
export function placeOf(reference: SecretReference): string {
  switch (reference.form) {
    case 'env':
      return `the environment variable ${reference.variable}`
    case 'file':
      return `the file ${reference.path}`
    case 'command':
      return `the command \`${typed(reference.command)}\``
    case 'kubernetesSecret':
      return `the Secret \`${reference.name}\` of the cluster`
  }
}

async function fetch(reference: SecretReference, options: SecretOptions): Promise<Secret> {
  switch (reference.form) {
    case 'env': {
      const { at, variable } = reference
      const value = own(options.environment, variable)
      const what = placeOf(reference)
      if (value === undefined) throw missing(at, `${what} is not set`, [setAnew(variable)])
      return secretOf(value, at, { what, empty: 'is empty', holds: 'contains', next: setAnew(variable) })
    }
    case 'file':
      return fromFile(reference, options)
    case 'command':
      return fromCommand(reference, options)
    case 'kubernetesSecret':
      return fromCluster(reference, options)
  }
}

async function fromFile(reference: SecretReference & { form: 'file' }, options: SecretOptions): Promise<Secret> {
  const { path, at } = reference
  const what = placeOf(reference)
  let content: Buffer | null
  try {
    content = await inTime(
      async (over) => readUpTo(path, maxSecretBytes, over),
      options,
      () => missing(at, `${what} returned nothing within ${options.timeoutMs / 1000} s`),
    )
  } catch (error) {
    if (error instanceof AdminError) throw error
    throw missing(at, `${what} cannot be read: ${whyUnreadable(error)}`, hintsOn(error, path), error)
  }
  if (!content) throw unusable(at, `${what} contains more than ${maxSecretBytes} bytes`)
  return secretOf(content.toString(), at, {
    what,
    empty: 'is empty',
    holds: 'contains',
    next: command`wc ${asPath(path)}   # the file must contain one line: the secret and nothing else`,
  })
}

async function fromCommand(reference: SecretReference & { form: 'command' }, options: SecretOptions): Promise<Secret> {
  const { command: words, at } = reference
  const [program = '', ...parameters] = words
  const { timeoutMs, signal } = options
  const again = typed(words)
  const what = placeOf(reference)
  let result
  try {
    result = await runProgram([program, ...parameters], {
      timeoutMs,
      maxBytes: maxSecretBytes,
      terminal: true,
      ...(signal && { signal }),
    })
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
    const hints =
      error.code === 'TIMED_OUT'
        ? [
            command`${nested(again)}   # shows what the command waits for`,
            command`--timeout ${Math.min(3600, (timeoutMs / 1000) * 6)}   # gives the command more time`,
          ]
        : error.suggestions
    throw missing(at, error.message, hints, error)
  }
  // what it printed may be half of the secret
  if (result.exitCode !== 0)
    throw missing(at, `${what} ${withoutLinesOf(result.stdout, endOf({ ...result, stdout: '' }))}`, [again])
  return secretOf(result.stdout, at, {
    what,
    empty: 'printed nothing',
    holds: 'printed',
    next: command`${nested(again)} | wc   # the command must print one line: the secret and nothing else`,
  })
}

async function fromCluster(
  { name, at, ...reference }: SecretReference & { form: 'kubernetesSecret' },
  options: SecretOptions,
): Promise<Secret> {
  const { cluster = { context: null, namespace: null, release: null }, timeoutMs, environment, signal } = options
  const what = placeOf({ ...reference, name, at })
  try {
    const secret = await readClusterSecret(name, cluster, { timeoutMs, environment, ...(signal && { signal }) })
    return secretOf(secret.reveal(), at, {
      what,
      empty: 'is empty',
      holds: 'contains',
      next: typed(['kubectl', 'describe', 'secret', name.split('/').at(-2) ?? '']),
    })
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'INTERRUPTED' || error.code === 'SECRET_MISSING') throw error
    throw missing(at, `${what} cannot be read: ${error.message}`, error.suggestions, error)
  }
}

/** Judges what was found: a secret is one line of characters that can be printed. */
function secretOf(
  value: string,
  at: string,
  { what, empty, holds, next }: { what: string; empty: string; holds: string; next: Suggestion },
): Secret {
  const content = value.replace(/\r?\n$/, '')
  if (content === '') throw missing(at, `${what} ${empty}`, [next])
  const { length } = content.split('\n')
  if (length > 1) {
    const isAround = !content.trim().includes('\n')
    const fault = isAround ? 'begins or ends with an empty line' : `${holds} ${length} lines`
    throw unusable(at, `${what} ${fault}, but a secret must be one line`, [next])
  }
  if (/\p{Cc}/u.test(content.replaceAll('\t', ''))) throw unusable(at, `${what} ${holds} control characters`, [next])
  return new Secret(content)
}

/** Returns the text of an error without lines that the program printed, which may contain the secret. */
function withoutLinesOf(secret: string, text: string): string {
  const lines = secret.split('\n').map((line) => line.trim())
  return lines.filter((line) => line.length > 3).reduce((clean, line) => clean.replaceAll(line, '[secret]'), text)
}

/** Limits the time of `work`, because a read of a pipe without a writer never ends. */
/** `over` aborts when nobody waits for `work` any more. */
async function inTime<T>(
  work: (over: AbortSignal) => Promise<T>,
  { timeoutMs, signal }: SecretOptions,
  late: () => AdminError,
): Promise<T> {
  const over = new AbortController()
  const ended = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(late()), timeoutMs)
    over.signal.addEventListener('abort', () => clearTimeout(timer))
    signal?.addEventListener('abort', () => reject(new AdminError('INTERRUPTED', 'interrupted')), {
      signal: over.signal,
    })
  })
  return Promise.race([work(over.signal), ended]).finally(() => over.abort())
}

function missing(at: string, what: string, hints: readonly Suggestion[] = [], cause?: unknown): AdminError {
  return new AdminError('SECRET_MISSING', `the secret at ${at} is missing: ${what}`, hints, { cause })
}

function unusable(at: string, what: string, hints: readonly Suggestion[] = []): AdminError {
  return new AdminError('SECRET_MISSING', `the secret at ${at} cannot be used: ${what}`, hints)
}

/** Returns a command that sets the variable without leaving the secret in the shell's history. */
function setAnew(variable: string): Suggestion {
  return command`read -rs ${variable} && export ${variable}   # then paste the secret as a single line`
}

function hintsOn(error: unknown, path: string): readonly Suggestion[] {
  return codeOf(error) === 'EACCES' ? [command`ls -l ${asPath(path)}`] : []
}

/**
 * Throws SECRET_MISSING for a secret that cannot be an API token, which is a plain word. The error names its place,
 * never its value.
 */
export function requireApiToken(secret: Secret, reference: SecretReference): void {
  const why = whyNone(secret.reveal())
  if (why === null) return
  throw new AdminError('SECRET_MISSING', `the secret at ${reference.at} cannot be used: ${placeOf(reference)} ${why}`, [
    'copy the API token again, or create a new one in the user menu of the web interface',
  ])
}

/** Returns a token's most likely fault; null if none. Blanks at either end would count as part of it (SPEC.md 5). */
function whyNone(token: string): string | null {
  if (token.trim() === '') return 'contains only whitespace'
  if (/^\s/.test(token))
    return `begins ${/\s$/.test(token) ? 'and ends ' : ''}with whitespace, which an API token never does`
  if (/\s$/.test(token)) return 'ends with whitespace, which an API token never does'
  if (/^(authorization:\s*)?(bearer|api-token)\s/i.test(token))
    return 'begins with a word from an HTTP header: enter only the token itself'
  if (!/^[\x21-\x7e]+$/.test(token))
    return 'contains whitespace or a non-ASCII character, which an API token never contains'
  if (/^(["'`]).*\1$/.test(token)) return 'is in quotes, and the quotes would count as part of the token'
  return null
}
