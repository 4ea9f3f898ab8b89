import { localLock } from '../adapters/local-lock.ts'
import { networkSource } from '../adapters/network.ts'
import { filesControl, filesSource } from '../adapters/settings-file/index.ts'
import { sharedAnswers } from '../core/answers.ts'
import type { ApiLogin } from '../core/api-control.ts'
import type { ControlName, Controls } from '../core/controls.ts'
import type { Deployment } from '../core/deployment.ts'
import type { Opened } from '../core/endpoint.ts'
import { AdminError, ifReached } from '../core/error.ts'
import { isTimeZone } from '../core/local-time.ts'
import type { LockOwner, RepairLock } from '../core/lock.ts'
import type { RunStore, WorkloadIdentity } from '../core/run.ts'
import type { Suggestion } from '../core/shell-command.ts'
import type { ServiceCommands, SourceName, Sources } from '../core/sources.ts'
import { unlessAborted } from '../core/work.ts'
import { namedTimeZone } from '../knowledge/jvm.ts'
import { traitsOf } from '../knowledge/platforms.ts'
import { defaultVendor, vendorIn, vendorSigns } from '../knowledge/settings.ts'
import { clusterOf, openPlatform } from '../platforms/index.ts'
import type { FileReference, SecretReference } from './configuration/nodes.ts'
import { editableOf, kubernetesSettingsOf, platformSettingsOf } from './configuration/platform-of.ts'
import type { DeploymentSettings } from './configuration/schema.ts'
import { possiblePlatforms } from './configuration/schema.ts'
import { readCertificates, requireApiToken, secretReader } from './configuration/secrets.ts'
import type { SelectedDeployment } from './configuration/select.ts'
import type { EndpointContext, ServiceEnvironment } from './endpoints/context.ts'
import { currentSettings, readable, settingOf } from './endpoints/context.ts'
import { apiPart } from './parts/api.ts'
import { brokerPart } from './parts/broker.ts'
import type { OpenOptions, PartContext } from './parts/part.ts'
import { runsPart } from './parts/runs.ts'
import { logsPart, servicePart } from './parts/service.ts'
import { databasePart, sessionsPart } from './parts/stores.ts'
import { labConfigurationFile, labDirectory, placeOfLab, recordsOf } from './paths.ts'
import { waysThrough } from './ways.ts'

/** Opens on first use, shares what was opened, and closes everything once, the last first. */
interface Openings {
  /** Returns a shared opening for each key; a failure is forgotten, so that a later use tries again */
  share: <T>(open: () => Promise<Opened<T>>) => (key?: string) => Promise<T>
  /** Closes everything; never throws; closes what is still being opened as soon as it is open */
  close: () => Promise<void>
}

/** Creates shared openings; `signal` cancels what is being opened (INTERRUPTED). */
export function openings({ signal }: { signal?: AbortSignal | undefined } = {}): Openings {
  const opened: (() => Promise<void>)[] = []
  let closing: Promise<void> | null = null

  const openOne = async <T>(open: () => Promise<Opened<T>>): Promise<T> => {
    if (closing || signal?.aborted) throw interrupted()
    const it = await open()
    if (closing || signal?.aborted) {
      await quietly(async () => it.close())
      throw interrupted()
    }
    opened.push(async () => it.close())
    return it.source
  }

  return {
    share(open) {
      const shared = sharedAnswers({ keep: 'successes' })
      return async (key = '') => shared.to(key, async () => unlessAborted(openOne(open), signal, interrupted))
    },
    close() {
      closing ??= closeAll(opened)
      return closing
    },
  }
}

async function closeAll(opened: readonly (() => Promise<void>)[]): Promise<void> {
  for (const close of opened.toReversed()) await quietly(close)
}

async function quietly(close: () => Promise<void>): Promise<void> {
  await close().catch(() => undefined)
}

function interrupted(): AdminError {
  return new AdminError('INTERRUPTED', 'interrupted')
}

export type { OpenOptions } from './parts/part.ts'

export interface OpenedDeployment {
  deployment: Deployment
  /** Each opens on first use and is shared; a failed one is tried again on its next use */
  open: { readonly [K in SourceName]: () => Promise<Sources[K]> }
  /** What the deployment is changed through: opens on first use as `open` does */
  control: { readonly [K in ControlName]: () => Promise<Controls[K]> }
  /** Returns the Bearer token that `open.api` and `control.api` use, for calls of the API by hand */
  login: () => Promise<ApiLogin>
  /** Returns the locks that keep a second operator out, in the order to take them; leaves out unreachable ones */
  locks: (own: LockOwner) => Promise<readonly RepairLock[]>
  /**
   * The journals of repairs: on this machine, and in the deployment itself. `there` throws if the deployment has no
   * place for them
   */
  journals: { here: RunStore; there: () => Promise<RunStore> }
  /** Returns what runs the service, by name; null if its platform has no such names. Throws as `open.service` */
  workload?: () => Promise<WorkloadIdentity | null>
  commands: ServiceCommands | null
  /** Makes parts that open next use the service's current settings, because others may have changed them */
  renew: () => void
  /** Closes everything; never throws; harmless twice */
  close: () => Promise<void>
}

/**
 * Opens a deployment for observation: what its configuration says, completed from the service's own settings. Fetches
 * its secrets, and connects to nothing yet. Throws SECRET_MISSING for the first unavailable secret, CONFIGURATION,
 * USAGE for `relay` without a cluster; if nothing at all shows how it is reached, the error that says why.
 */
export async function openDeployment(selected: SelectedDeployment, options: OpenOptions): Promise<OpenedDeployment> {
  const { name, settings } = selected
  const { timeoutMs, signal, environment } = options
  const secrets = secretReader({ environment, timeoutMs, signal, cluster: kubernetesSettingsOf(selected) })
  await inOrder(secretsOf(settings).map(secrets))
  const { apiToken } = settings
  if (apiToken) requireApiToken(await secrets(apiToken), apiToken)
  await inOrder(certificatesOf(settings).map(readCertificates))

  const settingsOfPlatform = platformSettingsOf(selected)
  if (options.relay && !traitsOf(settingsOfPlatform).relays) {
    throw new AdminError(
      'USAGE',
      `--relay needs a cluster, but deployment \`${name}\` is on platform ${settingsOfPlatform.platform}`,
    )
  }
  const platform = await openPlatform(settingsOfPlatform, {
    timeoutMs,
    environment,
    relay: options.relay,
    seen: selected.seen,
    ...(signal && { signal }),
  })
  const current = currentSettings(async () => platform.environment())
  const context: EndpointContext = { name, settings, secrets, environment: current.environment }
  const known = await environmentFor(context)
  const cluster = await clusterOf(settingsOfPlatform, { environment })
  const editable = editableOf(selected)
  const deployment: Deployment = {
    name,
    ...(options.config !== undefined && { config: options.config }),
    ...(selected.found !== undefined && { found: selected.found }),
    platform: settingsOfPlatform.platform,
    ...(cluster !== null && { cluster }),
    ...(editable && { editable }),
    ...(settings.ignore && { ignore: settings.ignore }),
    ...vendorOf(settings, known),
    ...timeZoneOf(settings, known),
  }

  const { share, close } = openings({ signal })
  const ways = waysThrough(platform)
  const parts: PartContext = {
    selected,
    options,
    deployment,
    platform,
    endpoint: context,
    settings: current,
    through<T extends object>(open: (endpoint: EndpointContext) => Promise<Opened<T>>) {
      const opened = share(async () => ways.told(async (reach) => open({ ...context, reach })))
      return async () => opened(await current.addresses(known))
    },
    share: (open) => share(async () => ({ source: await open(), close: async () => undefined })),
  }
  const place =
    cluster ?? (selected.file === labConfigurationFile(environment) ? placeOfLab(labDirectory(environment)) : null)
  const { runs: folder, lockFile } = recordsOf(environment, { name, ...(place !== null && { cluster: place }) })
  const [database, broker, sessions] = [databasePart(parts), brokerPart(parts), sessionsPart(parts)]
  const [api, service, logs] = [apiPart(parts), servicePart(parts), logsPart(parts)]
  const { workload, release } = service
  const runs = runsPart(parts, { runs: folder, lockFile, inBroker: broker.runs, workload })
  return {
    deployment,
    open: {
      database: database.source,
      broker: broker.source,
      sessions: sessions.source,
      api: api.source,
      service: service.source,
      logs: logs.source,
      accessLog: logs.access,
      runs: runs.source,
      network: parts.share(async () => networkSource({ timeoutMs })),
      files: parts.share(async () => filesSource({ timeoutMs, environment, ...(signal && { signal }) })),
      release,
    },
    control: {
      database: database.control,
      broker: broker.control,
      service: service.control,
      sessions: sessions.control,
      api: api.control,
      files: parts.share(async () => filesControl({ timeoutMs })),
      release,
    },
    login: api.login,
    async locks(own) {
      const ofPlatform = (await ifReached(platform.lock(own))).filter((lock) => lock !== null)
      const shared = [...ofPlatform, ...(await ifReached(database.lock(own)()))]
      const ofBroker = broker.lock(own, shared.length === 0)
      // the lock of this machine knows best who works on it
      return [...shared, localLock(lockFile, own), ...(await ifReached(ofBroker()))]
    },
    journals: runs.journals,
    workload,
    commands: platform.commands,
    renew: current.renew,
    async close() {
      await close()
      await ways.close()
      await platform.close()
    },
  }
}

/**
 * Returns the service's own settings; empty if they are unavailable. Throws that reason if the configuration names no
 * part at all.
 */
async function environmentFor(context: EndpointContext): Promise<ServiceEnvironment> {
  try {
    return readable(await context.environment())
  } catch (error) {
    const { url, database, broker, sessions } = context.settings
    if (url !== undefined || database || broker?.url !== undefined || sessions || !(error instanceof AdminError))
      return new Map()
    const code = error.code === 'NOT_CONFIGURED' ? 'CONFIGURATION' : error.code
    const message = `cannot tell how to reach deployment \`${context.name}\`: ${error.message}`
    const parts: Suggestion = traitsOf({ platform: possiblePlatforms(context.settings)[0] }).isConfigured
      ? 'set `url`, `database`, `broker`, `sessions` or `host.environmentFile` in the configuration'
      : 'set `url`, `database`, `broker` or `sessions` in the configuration'
    throw new AdminError(code, message, [...error.suggestions, parts], { cause: error })
  }
}

function vendorOf(
  { vendor = {} }: DeploymentSettings,
  environment: ServiceEnvironment,
): Pick<Deployment, 'vendor' | 'assumedVendor'> {
  const { prefixes, packages } = vendorSigns(environment.keys())
  const assumed: NonNullable<Deployment['assumedVendor']> = [
    ...(vendor.prefix === undefined && prefixes.length !== 1 ? (['prefix'] as const) : []),
    ...(vendor.package === undefined && packages.length !== 1 ? (['package'] as const) : []),
  ]
  return {
    vendor: { ...vendorIn(environment.keys(), { ...defaultVendor, ...vendor }), ...vendor },
    ...(assumed.length > 0 && { assumedVendor: assumed }),
  }
}

function timeZoneOf(
  { timeZone }: DeploymentSettings,
  environment: ServiceEnvironment,
): Pick<Deployment, 'timeZone' | 'isTimeZoneAssumed'> {
  if (timeZone !== undefined) return { timeZone }
  const named = namedTimeZone((name) => settingOf(environment, name))
  return named !== null && isTimeZone(named.zone)
    ? { timeZone: named.zone, isTimeZoneAssumed: true }
    : { timeZone: null }
}

function secretsOf({ apiToken, database = [], broker, sessions }: DeploymentSettings): SecretReference[] {
  const all = [
    apiToken,
    ...database.map(({ password }) => password),
    broker?.password,
    sessions?.password,
    sessions?.sentinel?.password,
  ]
  return all.filter((reference) => reference !== undefined)
}

function certificatesOf({ ca, database = [], broker, sessions }: DeploymentSettings): FileReference[] {
  return [ca, ...database.map((it) => it.ca), broker?.ca, sessions?.ca].filter((reference) => reference !== undefined)
}

/** Waits for all, which run at the same time. Throws the error of the first failed one in the list, in list order. */
async function inOrder(all: readonly Promise<unknown>[]): Promise<void> {
  for (const work of all) work.catch(() => undefined)
  for (const work of all) await work
}
