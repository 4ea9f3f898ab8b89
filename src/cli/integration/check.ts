import { traitsOf } from '../../knowledge/platforms.ts'
import { isIP } from 'node:net'
import { answerStep } from '../../domain/integrations/answer.ts'
import { certificateStep } from '../../domain/integrations/certificate.ts'
import { credentialSteps } from '../../domain/integrations/credentials.ts'
import { reachSteps } from '../../domain/integrations/reach.ts'
import type { ServicePlace } from '../../domain/integrations/reach.ts'
import { keptFromSignIn, signInStep } from '../../domain/integrations/sign-in.ts'
import { notConfigured, wanted } from '../../domain/wanted.ts'
import { AdminError } from '../../core/error.ts'
import type { ExternalSystem, IntegrationStep, SignIn } from '../../core/external-system.ts'
import { checked } from '../../output/integration.ts'
import type { CheckedIntegration } from '../../output/integration.ts'
import type { OpenedDeployment } from '../../runtime/index.ts'
import type { Target } from './targets.ts'

export interface Looking {
  /** null: no deployment is known */
  opened: OpenedDeployment | null
  timeoutMs: number
  ca: string | null
  signal: AbortSignal
  /** null: does not sign in */
  login: SignIn | null
}

/** Checks one external system step by step, and signs in if that was asked for. */
export async function checkTarget(
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
    return isGiven ? skipped('not tried: add --sign-in to try once. Too many failed attempts may lock the account') : []
  const kept = keptFromSignIn(steps, answer)
  if (kept !== null) return skipped(kept)
  const { signIn } = await import('../../runtime/index.ts')
  return [signInStep(await wanted(() => signIn(url, login, options)), answer)]
}

/** How the name resolves where the service runs; null: no deployment is known. */
async function placeOf({ hostname }: URL, opened: OpenedDeployment | null): Promise<ServicePlace | null> {
  if (!opened) return null
  const isElsewhere = traitsOf(opened.deployment).hasOwnNetwork
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return { resolves: null, isElsewhere }
  const resolves = await wanted(async () => (await opened.open.service()).resolve(hostname))
  return { resolves: notConfigured(resolves) ? null : resolves, isElsewhere }
}
