import { addressesInLog } from '../../domain/integrations/addresses.ts'
import { ownParts } from '../../domain/integrations/own-parts.ts'
import { logBytes } from '../../domain/service.ts'
import { had, notConfigured, wanted } from '../../domain/wanted.ts'
import { AdminError } from '../../core/error.ts'
import { closestNames } from '../../core/nearest.ts'
import type { CheckedIntegration } from '../../output/integration.ts'
import type { ConfiguredIntegration, OpenedDeployment } from '../../runtime/index.ts'
import type { GivenCredentials } from './given.ts'
import { command } from '../../core/shell-command.ts'

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
      : `the configuration has no integration \`${name}\`; it has ${names.join(', ')}`
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
