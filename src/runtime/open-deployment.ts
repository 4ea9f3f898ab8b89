import { possiblePlatforms } from './configuration/platform-keys.ts'
import { traitsOf } from '../knowledge/platforms.ts'
import { localLock, localOperator } from '../adapters/local-lock.ts'
import { networkSource } from '../adapters/network.ts'
import { runFolder } from '../adapters/run-folder.ts'
import { runFolders } from '../adapters/run-folders.ts'
import { eitherRunStore } from '../adapters/run-stores.ts'
import { filesControl, filesSource } from '../adapters/settings-file/index.ts'
import type { ApiLogin } from '../core/api-login.ts'
import type { ControlName, Controls } from '../core/controls.ts'
import type { Deployment } from '../core/deployment.ts'
import type { Opened } from '../core/endpoint.ts'
import { AdminError } from '../core/error.ts'
import { isTimeZone } from '../core/local-time.ts'
import type { LockOwner, RepairLock } from '../core/lock.ts'
import type { RunHistory, RunStore, UnreadableRun, WorkloadIdentity } from '../core/run.ts'
import { once } from '../core/once.ts'
import { mayBeOf, runState } from '../core/run-state.ts'
import type { RunsSource, ServiceCommands, SourceName, Sources } from '../core/sources.ts'
import { typed } from '../core/typed.ts'
import { namedTimeZone } from '../knowledge/jvm-time-zone.ts'
import { defaultVendor, vendorIn, vendorSigns } from '../knowledge/settings.ts'
import type { Platform, RelayWish } from '../platforms/index.ts'
import { clusterOf, openPlatform } from '../platforms/index.ts'
import { accessLogSource } from './access-log.ts'
import { requireApiToken } from './configuration/api-token.ts'
import { editableOf } from './configuration/editable.ts'
import type { FileReference, SecretReference } from './configuration/nodes.ts'
import type { DeploymentSettings } from './configuration/schema.ts'
import { readCertificates, secretReader } from './configuration/secrets.ts'
import type { SelectedDeployment } from './configuration/select.ts'
import { apiEndpoint } from './endpoints/api.ts'
import { brokerEndpoint } from './endpoints/broker.ts'
import { currentSettings } from './current-settings.ts'
import type { EndpointContext, ServiceEnvironment } from './endpoints/context.ts'
import { readable, settingOf } from './endpoints/context.ts'
import { databaseEndpoints } from './endpoints/database.ts'
import { toldByLogin } from './endpoints/refused-login.ts'
import { sessionsEndpoint } from './endpoints/sessions.ts'
import { logsSource } from './logs-source.ts'
import { openings } from './openings.ts'
import { labConfigurationFile, labDirectory, placeOfLab, recordsBeside, recordsOf } from './paths.ts'
import type { Environment } from './paths.ts'
import { kubernetesSettingsOf, platformSettingsOf } from './configuration/platform-of.ts'
import { rabbitmqctlFor } from './rabbitmqctl.ts'
import { waysThrough } from './ways.ts'
import { command } from '../core/shell-command.ts'
import type { Suggestion } from '../core/shell-command.ts'

export interface OpenOptions {
  /** for each connection and each program */
  timeoutMs: number
  /** of this program: secrets are read from it */
  environment: Environment
  /** the configuration file that a flag named */
  config?: string | undefined
  signal?: AbortSignal | undefined
  /** servers that this machine does not reach are reached through the cluster */
  relay?: RelayWish | undefined
}

export interface OpenedDeployment {
  deployment: Deployment
  /** each opens on first use and is shared; a failed one is tried again on its next use */
  open: { readonly [K in SourceName]: () => Promise<Sources[K]> }
  /** what the deployment is changed through: opens on first use as `open` does */
  control: { readonly [K in ControlName]: () => Promise<Controls[K]> }
  /** the Bearer token that `open.api` and `control.api` have, for who calls the API by hand */
  login: () => Promise<ApiLogin>
  /** what keeps a second operator out, in the order in which they are taken; what cannot be reached is left out */
  locks: (own: LockOwner) => Promise<readonly RepairLock[]>
  /**
   * the journals of repairs: on this machine, and in the deployment itself, which throws where it has no place for them
   */
  journals: { here: RunStore; there: () => Promise<RunStore> }
  /** what runs the service, by name; null: its platform has no such names. Throws as `open.service` */
  workload?: () => Promise<WorkloadIdentity | null>
  commands: ServiceCommands | null
  /** others may have changed the service's settings: what is opened next is opened by those of then */
  renew: () => void
  /** never throws; harmless twice */
  close: () => Promise<void>
}

/**
 * Makes a deployment observable: what its configuration says, completed from the service's own settings. Fetches its
 * secrets, and connects to nothing yet. Throws SECRET_MISSING for the first that cannot be had, CONFIGURATION;
 * UNAVAILABLE where nothing at all is known of how it is reached.
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
    ...vendorOf(settings, known),
    ...timeZoneOf(settings, known),
  }

  const { share, close } = openings({ signal })
  const ways = waysThrough(platform)
  /** once the service's settings name another server, that one */
  const through = <T extends object>(open: (context: EndpointContext) => Promise<Opened<T>>): (() => Promise<T>) => {
    const byAddresses = new Map<string, () => Promise<T>>()
    return async () => {
      const addresses = await current.addresses(known)
      const shared =
        byAddresses.get(addresses) ?? share(async () => ways.told(async (reach) => open({ ...context, reach })))
      byAddresses.set(addresses, shared)
      return shared()
    }
  }
  const place =
    cluster ?? (selected.file === labConfigurationFile(environment) ? placeOfLab(labDirectory(environment)) : null)
  const { runs, lockFile } = recordsOf(environment, { name, ...(place !== null && { cluster: place }) })
  const counted = once(async () => (await import('../adapters/redis/index.ts')).lastCount())
  const tokens = once(async () => (await import('../adapters/api/index.ts')).tokenKeeper())
  const release = share(async () => unheld(current.watched(await releaseOf(platform, deployment))))
  const inBroker = through(async (context) => {
    const endpoint = await brokerEndpoint(context)
    const { openRunStore } = await import('../adapters/rabbitmq/run-store.ts')
    return openRunStore(endpoint, { timeoutMs, rabbitmqctl: rabbitmqctlFor(endpoint, selected, options, platform) })
  })
  const workload = share(async () => unheld((await platform.workload?.()) ?? null))
  const isOwn = async (history: RunHistory): Promise<boolean> => {
    const own = (await ifReached(workload())).at(0)
    return !!own && mayBeOf(own, deployment.cluster, history)
  }
  const journals = {
    here: platform.workload
      ? runFolders(runs, { folders: async () => recordsBeside(environment, deployment), isOwn })
      : runFolder(runs),
    there: platform.journals
      ? share(async () =>
          unheld(await eitherRunStore({ first: inBroker, second: async (of) => platform.journals!(of) })),
        )
      : inBroker,
  }
  return {
    deployment,
    control: {
      database: through(async (context) => {
        const endpoints = await databaseEndpoints(context)
        const { openDatabaseControls } = await import('../adapters/postgres/index.ts')
        return openDatabaseControls(endpoints, { timeoutMs })
      }),
      broker: through(async (context) => {
        const endpoint = await brokerEndpoint(context)
        const { openBrokerControl } = await import('../adapters/rabbitmq/control/index.ts')
        return openBrokerControl(endpoint, { timeoutMs })
      }),
      service: share(async () => unheld(current.watched(await platform.control()))),
      sessions: through(async (context) => {
        const endpoint = await sessionsEndpoint(context)
        const { openSessionsControl } = await import('../adapters/redis/index.ts')
        return toldByLogin(endpoint.login, openSessionsControl(endpoint, { timeoutMs, last: await counted() }))
      }),
      api: through(async (context) => {
        const endpoint = await apiEndpoint(context, deployment.vendor)
        const { openApiControl } = await import('../adapters/api/index.ts')
        return openApiControl(endpoint, { timeoutMs, tokens: await tokens() })
      }),
      files: share(async () => unheld(filesControl({ timeoutMs }))),
      release,
    },
    login: through(async (context) => {
      const endpoint = await apiEndpoint(context, deployment.vendor)
      const { openApiLogin } = await import('../adapters/api/index.ts')
      return openApiLogin(endpoint, { timeoutMs, tokens: await tokens() })
    }),
    async locks(own) {
      const ofDatabase = through(async (context) => {
        const [endpoint] = await databaseEndpoints(context)
        const { openDatabaseLock } = await import('../adapters/postgres/index.ts')
        return openDatabaseLock(endpoint, own, { timeoutMs })
      })
      const ofPlatform = (await ifReached(platform.lock(own))).filter((lock) => lock !== null)
      const shared = [...ofPlatform, ...(await ifReached(ofDatabase()))]
      const ofBroker = through(async (context) => {
        const endpoint = await brokerEndpoint(context)
        const { openBrokerLock } = await import('../adapters/rabbitmq/repair-lock.ts')
        return openBrokerLock(endpoint, own, {
          timeoutMs,
          rabbitmqctl: rabbitmqctlFor(endpoint, selected, options, platform),
          isOnlyShared: shared.length === 0,
        })
      })
      // who works on this machine is known best by its own lock
      return [...shared, localLock(lockFile, own), ...(await ifReached(ofBroker()))]
    },
    journals,
    workload,
    commands: platform.commands,
    renew: current.renew,
    open: {
      database: through(async (context) => {
        const endpoints = await databaseEndpoints(context)
        const { openDatabases } = await import('../adapters/postgres/index.ts')
        return toldByLogin(endpoints[0].login, openDatabases(endpoints, { timeoutMs }))
      }),
      broker: through(async (context) => {
        const endpoint = await brokerEndpoint(context)
        const { openBroker } = await import('../adapters/rabbitmq/index.ts')
        return toldByLogin(
          endpoint.login,
          openBroker(endpoint, { timeoutMs, rabbitmqctl: rabbitmqctlFor(endpoint, selected, options, platform) }),
        )
      }),
      sessions: through(async (context) => {
        const endpoint = await sessionsEndpoint(context)
        const { openSessions } = await import('../adapters/redis/index.ts')
        return toldByLogin(endpoint.login, openSessions(endpoint, { timeoutMs, last: await counted() }))
      }),
      api: through(async (context) => {
        const endpoint = await apiEndpoint(context, deployment.vendor)
        const { openApi } = await import('../adapters/api/index.ts')
        return openApi(endpoint, { timeoutMs, tokens: await tokens() })
      }),
      service: share(async () => unheld(await platform.service())),
      logs: share(async () => unheld(logsSource(await platform.log(), deployment.timeZone))),
      accessLog: share(async () => unheld(accessLogSource(accessLogFile(context), { timeoutMs }))),
      runs: share(async () => unheld(runsSource(runs, lockFile, journals))),
      network: share(async () => unheld(networkSource({ timeoutMs }))),
      files: share(async () => unheld(filesSource({ timeoutMs, environment, ...(signal && { signal }) }))),
      release,
    },
    async close() {
      await close()
      await ways.close()
      await platform.close()
    },
  }
}

/**
 * The service's own settings, empty where they cannot be had. Throws that reason where the configuration names no part
 * at all.
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
      ? 'in the configuration: url, database, broker, sessions, or host.environmentFile'
      : 'in the configuration: url, database, broker or sessions'
    throw new AdminError(code, message, [...error.suggestions, parts], { cause: error })
  }
}

function releaseOf(platform: Platform, { name }: Deployment): ReturnType<NonNullable<Platform['release']>> {
  if (platform.release) return platform.release()
  throw new AdminError('NOT_CONFIGURED', `\`${name}\` does not run in a cluster, so it has no Helm release`)
}

/** What could be opened, as a list; empty where it cannot be reached. */
async function ifReached<T>(opening: Promise<T>): Promise<T[]> {
  try {
    return [await opening]
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return []
    throw error
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

function accessLogFile({ name, settings: { accessLog } }: EndpointContext): string {
  if (accessLog) return accessLog.file.path
  throw new AdminError('NOT_CONFIGURED', `no access log is configured for \`${name}\`: set \`accessLog.file\``)
}

function runsSource(
  folder: string,
  lockFile: string,
  { here, there }: { here: RunStore; there: () => Promise<RunStore> },
): RunsSource {
  return {
    target: folder,
    async list() {
      const all = await here.list()
      const damaged = all.find((it) => 'unreadable' in it)
      if (damaged && 'unreadable' in damaged) throw damagedRun(damaged, folder)
      return all.flatMap((it) => ('record' in it ? [runState(it)] : []))
    },
    async inDeployment() {
      return (await there()).list()
    },
    operator: async () => localOperator(lockFile),
  }
}

function damagedRun({ run, unreadable }: UnreadableRun, folder: string): AdminError {
  return new AdminError('UNEXPECTED_ANSWER', unreadable, [
    command`testops-admin resume --adopt ${run} -d {deployment} --dry-run   # if the deployment has a copy of its journal`,
    typed(['ls', '-l', `${folder}/${run}`]),
  ])
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

/** Waits for all, which go on at the same time. Throws what the first in the list threw, whichever failed first. */
async function inOrder(all: readonly Promise<unknown>[]): Promise<void> {
  for (const work of all) work.catch(() => undefined)
  for (const work of all) await work
}

function unheld<T>(source: T): Opened<T> {
  return { source, close: async () => undefined }
}
