import { isIP } from 'node:net'
import { AdminError } from '../../core/error.ts'
import type { ExternalSystem, IntegrationStep, SignIn } from '../../core/external-system.ts'
import { Secret } from '../../core/secret.ts'
import { command, nested } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import { answerStep } from '../../domain/integrations/answer.ts'
import { credentialSteps, keptFromSignIn, signInStep } from '../../domain/integrations/credentials.ts'
import type { ServicePlace } from '../../domain/integrations/reach.ts'
import { certificateStep, reachSteps } from '../../domain/integrations/reach.ts'
import { notConfigured, wanted } from '../../domain/wanted.ts'
import { traitsOf } from '../../knowledge/platforms.ts'
import type { CheckedIntegration, IntegrationDocument } from '../../output/integration.ts'
import { checked } from '../../output/integration.ts'
import type { OpenedDeployment, SelectedDeployment } from '../../runtime/index.ts'
import { readInput } from '../../runtime/read-input.ts'
import { chosenDeployment } from '../chosen-deployment.ts'
import { noteIgnored } from '../write.ts'
import { interruptible } from '../interrupt.ts'
import { filledError } from '../repair/session.ts'
import type { GivenCredentials, GivenFlags, Target } from './targets.ts'
import { allTargets, givenCredentials, namedTarget } from './targets.ts'

/** The risk that --accept-risk accepts: what is sent over http:// can be read on its way. */
export const plainHttp = 'plain-http'

/**
 * Returns the credentials for the one attempt, and the sentence that announces it. Throws REFUSED, and USAGE if
 * something is missing.
 */
function plannedSignIn(targets: readonly Target[], accepted: readonly string[]): { login: SignIn; plan: string } {
  const [target, ...others] = targets
  if (!target || others.length > 0) {
    throw new AdminError('USAGE', '--sign-in is for one external system', [
      ...targets.flatMap(({ name }) => (name === null ? [] : [command`--integration ${name}`])),
      '--url URL',
    ])
  }
  const {
    given: { user, password, token },
    url,
  } = target
  if (url.startsWith('http:') && !accepted.includes(plainHttp)) {
    throw new AdminError('REFUSED', `${url} is not encrypted: anyone on the network path can read the credentials`, [
      command`${nested(typed(['testops-admin', ...process.argv.slice(2), '--accept-risk', plainHttp]))}   # only if
        you are sure`,
    ])
  }
  if (token?.text) {
    if (!/^[\x20-\x7e\t]+$/.test(token.text))
      throw new AdminError('REFUSED', 'the token contains characters that are not allowed in an HTTP header', [
        'testops-admin check-integration --url URL --token-from @FILE   # finds control characters, and invisible ' +
          'characters at the start or end of the token',
      ])
    return {
      login: { scheme: 'bearer', token: new Secret(token.text) },
      plan: `Signs in once: GET ${url} with the token from ${token.from}.`,
    }
  }
  const empty = [token, user, password].find((it) => it?.text === '')
  if (empty)
    throw new AdminError('USAGE', empty.missing ?? `cannot sign in: ${empty.from} is empty`, [
      '--user NAME --password-from @FILE',
      '--token-from @FILE',
    ])
  if (!user?.text || !password?.text)
    throw new AdminError(
      'USAGE',
      `--sign-in needs ${user?.text ? 'a password' : 'a user and a password'}, or a token`,
      ['--user NAME --password-from @FILE', '--token-from @FILE'],
    )
  const who = user.isPublic === true ? user.text : `the user from ${user.from}`
  return {
    login: { scheme: 'basic', user: new Secret(user.text), password: new Secret(password.text) },
    plan: `Signs in once: GET ${url} as ${who}, with the password from ${password.from}.`,
  }
}

interface IntegrationFlags extends GivenFlags {
  deployment?: string | undefined
  config?: string | undefined
  timeout?: number | undefined
  url?: string | undefined
  integration?: string | undefined
  ca?: string | undefined
  'sign-in': boolean
  'accept-risk'?: readonly string[] | undefined
}

const defaultTimeoutSeconds = 10

/**
 * Checks the external systems that the flags select: one by address or name, else all of the configuration and the log.
 * Throws USAGE, REFUSED, and the errors of opening the deployment and its log.
 */
export async function checkIntegrations(
  flags: IntegrationFlags,
  tell: (message: string) => void,
): Promise<IntegrationDocument> {
  const url = flags.url === undefined ? undefined : await addressIn(flags.url)
  const given = await givenCredentials(flags)
  if (Object.keys(given).length > 0 && url === undefined && flags.integration === undefined) {
    throw new AdminError('USAGE', 'credentials belong to one external system: name it with --url or --integration', [
      '--url URL',
      '--integration NAME',
    ])
  }
  const ca = flags.ca === undefined ? null : await authorityIn(flags.ca)
  const timeoutMs = (flags.timeout ?? defaultTimeoutSeconds) * 1000
  return interruptible(async (signal) => {
    const selected = await selectedFor(flags, signal)
    return withOpenedOrNone(selected, flags, { timeoutMs, signal }, async (opened) => {
      const targets = (await targetsOf(url, flags.integration, { selected, opened, timeoutMs, signal }, tell)).map(
        (it) => ({ ...it, given: merged(it.given, given) }),
      )
      const planned = flags['sign-in'] ? plannedSignIn(targets, flags['accept-risk'] ?? []) : null
      if (planned) tell(planned.plan)
      const looking = { opened, timeoutMs, ca, signal, login: planned?.login ?? null }
      const integrations = await Promise.all(targets.map((target) => checkTarget(target, looking)))
      return { schemaVersion: 1, deployment: selected?.name ?? null, integrations }
    })
  })
}

/** Combines credentials: those from flags override the configuration, and a token replaces a password. */
function merged(own: GivenCredentials, given: GivenCredentials): GivenCredentials {
  const { password: _, ...rest } = own
  return { ...(given.token ? rest : own), ...given }
}

interface At {
  selected: SelectedDeployment | null
  opened: OpenedDeployment | null
  timeoutMs: number
  signal: AbortSignal
}

async function targetsOf(
  url: string | undefined,
  name: string | undefined,
  { selected, opened, timeoutMs, signal }: At,
  tell: (message: string) => void,
): Promise<Target[]> {
  if (url !== undefined) return [{ name: null, url, from: 'flag', given: {} }]
  const { configuredIntegrations } = await import('../../runtime/index.ts')
  const configured = selected ? configuredIntegrations(selected, { environment: process.env, timeoutMs, signal }) : []
  if (name !== undefined) return [await namedTarget(configured, name)]
  return opened ? allTargets(configured, opened, tell) : []
}

/**
 * Returns the selected deployment; null if there is none. With an address, a deployment is used only if a flag or a
 * trusted configuration names one.
 */
async function selectedFor(
  { deployment, config, url }: IntegrationFlags,
  signal: AbortSignal,
): Promise<SelectedDeployment | null> {
  if (url !== undefined && deployment === undefined) {
    if (config === undefined && (await noteIgnored({}))) return null
    const { findConfiguration } = await import('../../runtime/index.ts')
    if ((await findConfiguration({ file: config, environment: process.env, workingDirectory: process.cwd() })) === null)
      return null
  }
  return chosenDeployment({ deployment, config }, signal)
}

async function withOpenedOrNone<T>(
  selected: SelectedDeployment | null,
  { config }: IntegrationFlags,
  options: { timeoutMs: number; signal: AbortSignal },
  run: (opened: OpenedDeployment | null) => Promise<T>,
): Promise<T> {
  if (!selected) return run(null)
  const { openDeployment } = await import('../../runtime/index.ts')
  const opened = await openDeployment(selected, { ...options, environment: process.env, config })
  try {
    return await run(opened)
  } catch (error) {
    throw error instanceof AdminError ? filledError(error, opened) : error
  } finally {
    await opened.close()
  }
}

/** Returns the address in a flag. Errors do not show its text, which may contain a password. */
async function addressIn(text: string): Promise<string> {
  const { parseHttpAddress } = await import('../../runtime/index.ts')
  try {
    parseHttpAddress(text)
    return new URL(text.trim()).href
  } catch (error) {
    throw new AdminError('USAGE', `--url ${error instanceof Error ? error.message : ''}`, [
      'testops-admin check-integration --url https://tracker.example.org/rest/api',
    ])
  }
}

async function authorityIn(file: string): Promise<string> {
  const text = await readInput(file, { mostBytes: 1_000_000, next: ['--ca FILE   # certificates in PEM form'] })
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new AdminError('USAGE', `${file} has no certificate in PEM form`, ['--ca FILE   # certificates in PEM form'])
}

interface Looking {
  /** Null if no deployment is known */
  opened: OpenedDeployment | null
  timeoutMs: number
  ca: string | null
  signal: AbortSignal
  /** Null if it does not sign in */
  login: SignIn | null
}

/** Checks one external system step by step, and signs in if that was asked for. */
async function checkTarget(
  { given, ...target }: Target,
  { opened, login, ...options }: Looking,
): Promise<CheckedIntegration> {
  const { examine } = await import('../../runtime/index.ts')
  const url = new URL(target.url)
  const [system, place] = await Promise.all([examine(target.url, options), placeOf(url, opened)])
  const certificate = certificateStep(url, system, new Date())
  const seen = (isLetIn: boolean): IntegrationStep[] => [
    ...reachSteps(url, system, place),
    ...(certificate ? [certificate] : []),
    ...(system.answer === null ? [] : [answerStep(url, system.answer, isLetIn)]),
    ...credentialSteps(given),
  ]
  const last = await signInSteps(
    target.url,
    seen(false),
    system,
    { opened, login, ...options },
    Object.keys(given).length > 0,
  )
  const steps = [...seen(last.some(({ step, status }) => step === 'sign-in' && status === 'ok')), ...last]
  const own = system.tls === null || system.tls instanceof AdminError ? null : (system.tls.chain[0] ?? null)
  return checked({ ...target, steps, certificate: own })
}

async function signInSteps(
  url: string,
  steps: readonly IntegrationStep[],
  { answer }: ExternalSystem,
  { login, ...options }: Looking,
  isGiven: boolean,
): Promise<IntegrationStep[]> {
  const skipped = (message: string): IntegrationStep[] => [{ step: 'sign-in', status: 'skipped', message }]
  if (login === null)
    return isGiven
      ? skipped('skipped, because failed sign-ins may lock the account. To try the credentials once, add --sign-in')
      : []
  const kept = keptFromSignIn(steps, answer)
  if (kept !== null) return skipped(kept)
  const { signIn } = await import('../../runtime/index.ts')
  return [signInStep(await wanted(() => signIn(url, login, options)), answer)]
}

/** Resolves the name where the service runs; null if no deployment is known. */
async function placeOf({ hostname }: URL, opened: OpenedDeployment | null): Promise<ServicePlace | null> {
  if (!opened) return null
  const isElsewhere = traitsOf(opened.deployment).hasOwnNetwork
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return { resolves: null, isElsewhere }
  const resolves = await wanted(async () => (await opened.open.service()).resolve(hostname))
  return { resolves: notConfigured(resolves) ? null : resolves, isElsewhere }
}
