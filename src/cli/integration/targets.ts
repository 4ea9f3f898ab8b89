import { AdminError } from '../../core/error.ts'
import { closestNames } from '../../core/nearest.ts'
import { own } from '../../core/lookup.ts'
import { command } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { addressesInLog, ownParts } from '../../domain/integrations/addresses.ts'
import type { Given } from '../../domain/integrations/credentials.ts'
import { logBytes } from '../../core/sources/logs.ts'
import { had, notConfigured, wanted } from '../../domain/wanted.ts'
import type { CheckedIntegration } from '../../output/integration.ts'
import type { ConfiguredIntegration, OpenedDeployment } from '../../runtime/index.ts'
import { readInput } from '../../runtime/read-input.ts'

/** An external system to check, with its known credentials. */
export interface Target extends Pick<CheckedIntegration, 'name' | 'url' | 'from'> {
  given: GivenCredentials
}

/** Returns the configured system of that name. Throws USAGE, and SECRET_MISSING. */
export async function namedTarget(configured: readonly ConfiguredIntegration[], name: string): Promise<Target> {
  const found = configured.find((it) => it.name === name)
  if (found) return targetOf(found, false)
  const names = configured.map((it) => it.name)
  const message =
    names.length === 0
      ? 'the configuration has no integrations'
      : `the configuration has no integration \`${name}\`, only ${names.map((it) => `\`${it}\``).join(', ')}`
  throw new AdminError('USAGE', message, [
    ...closestNames(name, names).map(
      (it) => command`testops-admin check-integration -d {deployment} --integration ${it}`,
    ),
    'testops-admin check-integration --url URL',
  ])
}

/**
 * Returns the systems of the configuration, then others that the service's log shows. If the log cannot be read,
 * reports that through `tell`, or throws the error if the configuration names no system.
 */
export async function allTargets(
  configured: readonly ConfiguredIntegration[],
  { open }: Pick<OpenedDeployment, 'open'>,
  tell: (message: string) => void,
): Promise<Target[]> {
  const targets = await Promise.all(configured.map(async (it) => targetOf(it, true)))
  const log = await wanted(async () => (await open.logs()).recent({ maxBytes: logBytes }))
  if (log instanceof AdminError) {
    if (targets.length === 0) throw log
    if (!notConfigured(log)) tell(`Skipped the log: ${log.message}`)
    return targets
  }
  for (const { name, error } of log.unread ?? []) tell(`Skipped the log of ${name}: ${error.message}`)
  const service = had(await wanted(open.service))
  const hosts = new Set(targets.map(({ url }) => new URL(url).hostname))
  const shown = addressesInLog(log.records, service ? await ownParts(service) : new Set()).filter(
    (url) => !hosts.has(new URL(url).hostname),
  )
  return [...targets, ...shown.map((url): Target => ({ name: null, url, from: 'log', given: {} }))]
}

/**
 * Returns the target for a configured system. With `among`, there are others: a missing password does not stop the
 * check.
 */
async function targetOf({ name, url, user, password }: ConfiguredIntegration, among: boolean): Promise<Target> {
  const secret = password && (among ? await wanted(password.read) : await password.read())
  if (secret instanceof AdminError && secret.code === 'INTERRUPTED') throw secret
  return {
    name,
    url,
    from: 'configuration',
    given: {
      ...(user !== null && { user: { text: user, from: 'the configuration', isPublic: true } }),
      ...(secret &&
        password && {
          password:
            secret instanceof AdminError
              ? { text: '', from: password.from, missing: secret.message }
              : { text: secret.reveal(), from: password.from },
        }),
    },
  }
}

/** Credentials as flags: a user, or places where values are kept. */
export interface GivenFlags {
  user?: string | undefined
  'user-from'?: string | undefined
  'password-from'?: string | undefined
  'token-from'?: string | undefined
}

export interface GivenCredentials {
  user?: Given
  password?: Given
  token?: Given
}

const forms = 'env:NAME, @FILE, or @- for standard input'

/**
 * Reads credentials from the places that the flags name. Throws USAGE, and SECRET_MISSING for a variable that is not
 * set.
 */
export async function givenCredentials(flags: GivenFlags): Promise<GivenCredentials> {
  const kept = (['user', 'password', 'token'] as const).map((what) => ({ what, reference: flags[`${what}-from`] }))
  if (kept.filter(({ reference }) => reference === '@-').length > 1)
    throw new AdminError('USAGE', 'standard input can be read only once: use @- for only one flag', [forms])
  const given: GivenCredentials =
    flags.user === undefined ? {} : { user: { text: flags.user, from: '--user', isPublic: true } }
  for (const { what, reference } of kept)
    if (reference !== undefined) given[what] = await read(reference, `--${what}-from`)
  return given
}

/** Reads one value. A text that is not a reference may be the secret itself, so no message repeats it. */
async function read(reference: string, flag: `--${string}`): Promise<Given> {
  const variable = /^env:([A-Za-z_]\w*)$/.exec(reference)?.[1]
  if (variable !== undefined) {
    const text = own(process.env, variable)
    if (text !== undefined) return { text, from: `the environment variable ${variable}` }
    throw new AdminError('SECRET_MISSING', `${flag}: the environment variable ${variable} is not set`, [
      command`read -rs ${variable} && export ${variable}   # then paste the value (one line) and press Enter`,
    ])
  }
  const file = /^@(.+)$/.exec(reference)?.[1]
  if (file === undefined)
    throw new AdminError('USAGE', `${flag} needs the place where the value is kept, not the value itself: ${forms}`, [
      typed([flag, '@FILE']),
    ])
  const all = await readInput(file, { mostBytes: 100_000, next: [typed([flag, '@FILE'])] })
  const text = all.replace(/\r?\n$/, '')
  return { text, from: file === '-' ? 'standard input' : `the file ${file}`, ...(text !== all && { hadLineEnd: true }) }
}
