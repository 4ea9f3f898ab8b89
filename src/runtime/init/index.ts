import { isTimeZone } from '../../core/local-time.ts'
import { AdminError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import { withoutSecrets } from '../../core/redaction/index.ts'
import { Secret } from '../../core/secret.ts'
import { namedTimeZone } from '../../knowledge/jvm.ts'
import {
  defaultBrokerUser,
  isSecretSetting,
  settingNames,
  springSettings,
  vendorIn,
  vendorSigns,
} from '../../knowledge/settings.ts'
import { findJavaProcesses } from '../../platforms/index.ts'
import type { JavaProcess } from '../../platforms/index.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { SelectedDeployment } from '../configuration/select.ts'
import { brokerEndpoint } from '../endpoints/broker.ts'
import type { EndpointContext, ServiceEnvironment } from '../endpoints/context.ts'
import { databaseEndpoints } from '../endpoints/database.ts'
import { sessionsEndpoint } from '../endpoints/sessions.ts'
import { openDeployment } from '../open-deployment.ts'
import type { OpenedDeployment, OpenOptions } from '../open-deployment.ts'
import type { Draft } from './judge.ts'
import { problemAt } from './judge.ts'

export { problemAt } from './judge.ts'

export type { Draft, DraftValue, Path } from './judge.ts'
export { assertSecret, draftOf, judge, problemOfName, selectedOf } from './judge.ts'
export type { KeptAnswers } from './write.ts'
export { assertNew, keptAnswers, writeAllNew, writeNew } from './write.ts'
export {
  certificatesIn,
  isCalendarEvent,
  movedConfiguration,
  serviceCommandsOf,
  templateSource,
  templateText,
} from './template.ts'
export { platformOf } from '../configuration/platform-of.ts'

/** A process that is the service, as a configuration would say it. */
interface ProcessFound {
  name: string
  /** For people */
  what: string
  /** Log and time zone */
  draft: Draft
  /** What its environment says beyond that; unnecessary if a file with the same settings is known */
  addresses: Draft
  /** Parts whose password is in its environment; the password is written nowhere */
  withPassword: readonly ProbedPart[]
}

/** Finds Java processes on this machine that are the service. `root`: where the kernel shows them. Never throws. */
export async function findProcesses(root?: string): Promise<ProcessFound[]> {
  const all = await findJavaProcesses(root)
  return Promise.all(
    all.map(async (it) => ({
      name: all.length === 1 ? 'testops' : `testops-${it.pid}`,
      what: told(it),
      ...(await described(it)),
    })),
  )
}

function told({ pid, program, user, folder, environment }: JavaProcess): string {
  return (
    `process ${pid} (java ${program}, user ${user}${folder === null ? '' : `, in ${folder}`})` +
    `${environment === null ? ', whose environment this user may not read' : ''}`
  )
}

async function described({
  environment: variables,
  logFile,
  timeZone,
}: JavaProcess): Promise<Pick<ProcessFound, 'draft' | 'addresses' | 'withPassword'>> {
  const environment: ServiceEnvironment = new Map(
    [...(variables ?? [])].map(([name, value]) => [name, isSecretSetting(name, value) ? new Secret(value) : value]),
  )
  const zone = timeZone ?? namedTimeZone((name) => variables?.get(name))?.zone ?? ''
  const draft: Draft = {
    platform: 'host',
    ...(logFile !== null && { host: { logs: { file: logFile } } }),
    ...(isTimeZone(zone) && { timeZone: zone }),
  }
  const context: EndpointContext = {
    name: '',
    settings: {},
    secrets: async () => Promise.reject(new AdminError('SECRET_MISSING', '')),
    environment: async () => environment,
  }
  const [database, broker, sessions] = await Promise.all([
    known(databaseEndpoints(context)),
    known(brokerEndpoint(context)),
    known(sessionsEndpoint(context)),
  ])
  const { prefixes, packages } = vendorSigns(environment.keys())
  const url = variables?.get(settingNames(vendorIn(environment.keys())).endpoint)
  const vendor = {
    ...(prefixes.length === 1 && { prefix: prefixes[0] }),
    ...(packages.length === 1 && { package: packages[0] }),
  }
  // the whole address says more than its parts: how it is encrypted, and the schema
  const jdbc = variables?.get(springSettings.datasourceUrl) ?? ''
  // the address is written into a file, and may hold several passwords, such as that of a key
  const isPlain = jdbc === withoutSecrets(jdbc)
  const addresses: Draft = {
    ...(url !== undefined && problemAt(['url'], url) === null && { url }),
    ...(Object.keys(vendor).length > 0 && { vendor }),
    ...(database &&
      isPlain &&
      problemAt(['database', 'url'], jdbc) === null && {
        database: { url: jdbc, ...(database[0].user !== null && { user: database[0].user }) },
      }),
    ...(broker && {
      broker: {
        url:
          `${broker.tls.mode === 'disable' ? 'amqp' : 'amqps'}://${inAddress(broker)}/` +
          `${encodeURIComponent(broker.vhost)}`,
        user: broker.user,
      },
    }),
    ...(sessions && {
      sessions: {
        ...(sessions.sentinel
          ? { sentinel: { master: sessions.sentinel.master, nodes: sessions.sentinel.nodes.map(inAddress) } }
          : sessions.cluster
            ? { cluster: sessions.cluster.map(inAddress) }
            : {
                url:
                  `${sessions.tls.mode === 'disable' ? 'redis' : 'rediss'}` +
                  `://${inAddress(sessions)}/${sessions.database}`,
              }),
        ...(sessions.user !== null && { user: sessions.user }),
      },
    }),
  }
  const withPassword: ProbedPart[] = [
    ...(database?.[0].password ? (['database'] as const) : []),
    ...(broker?.password && broker.password.reveal() !== defaultBrokerUser.password ? (['broker'] as const) : []),
    ...(sessions?.password ? (['sessions'] as const) : []),
  ]
  return { draft, addresses, withPassword }
}

function inAddress({ host, port }: { host: string; port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Returns the endpoint; null if its settings are missing or invalid. */
async function known<T>(endpoint: Promise<T>): Promise<T | null> {
  return endpoint.catch((error: unknown) => {
    if (error instanceof AdminError) return null
    throw error
  })
}

/** Parts that are tried, in the order in which they are reported. */
const probedParts = ['service', 'database', 'broker', 'sessions', 'api'] as const
export type ProbedPart = (typeof probedParts)[number]

/** How opening a part went. `absent`: nothing says where it is. */
export type Probe = { part: ProbedPart } & (
  | { status: 'ok'; target: string }
  | { status: 'failed' | 'absent'; error: { code: ErrorCode; message: string; suggestions: readonly Suggestion[] } }
)

/** Opens parts of a deployment at the same time, and closes them. Throws SECRET_MISSING, CONFIGURATION, INTERRUPTED. */
export async function probe(
  selected: SelectedDeployment,
  options: OpenOptions,
  parts: readonly ProbedPart[] = probedParts,
): Promise<Probe[]> {
  let opened: OpenedDeployment
  try {
    opened = await openDeployment(selected, options)
  } catch (error) {
    // it is unknown how the deployment is reached
    if (!(error instanceof AdminError) || ['SECRET_MISSING', 'INTERRUPTED'].includes(error.code)) throw error
    return parts.map((part) => ({ part, status: part === 'service' ? 'failed' : 'absent', error: shown(error) }))
  }
  try {
    return await Promise.all(parts.map(async (part) => probeOf(part, opened)))
  } finally {
    await opened.close()
  }
}

async function probeOf(part: ProbedPart, { open, deployment }: OpenedDeployment): Promise<Probe> {
  try {
    return { part, status: 'ok', target: await targetOf(part, open, deployment.platform) }
  } catch (error) {
    if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
    return { part, status: error.code === 'NOT_CONFIGURED' ? 'absent' : 'failed', error: shown(error) }
  }
}

async function targetOf(part: ProbedPart, open: OpenedDeployment['open'], platform: string): Promise<string> {
  if (part === 'service') return `${platform}: ${(await (await open.service()).status()).detail}`
  if (part === 'database') return (await open.database()).map(({ target }) => target).join(', ')
  return (await open[part]()).target
}

function shown({ code, message, suggestions }: AdminError): Extract<Probe, { status: 'failed' | 'absent' }>['error'] {
  return { code, message, suggestions }
}
