import { springSettings, settingNames, defaultVendor } from '../knowledge/settings.ts'
import type { Overlay } from './changes.ts'
import { labNames } from './lab.ts'
import type { Lab, LabServers } from './lab.ts'
import { practiceMachine } from './practice-service/machine.ts'
import type { PracticeMachine } from './practice-service/machine.ts'

const names = settingNames(defaultVendor)

/** Lifetime of a session in the healthy lab, in hours. */
export const sessionHours = 8

/** Returns the service's environment variables (FIELD-NOTES.md 1.3), with those of faults on top. */
export function serviceEnvironment(lab: Lab, servers: LabServers, overlay: Overlay): Record<string, string> {
  const { postgres, rabbitmq, redis } = servers
  const { database, role, vhost, namespace } = labNames(lab.state, servers)
  const healthy: Record<string, string | null> = {
    [springSettings.datasourceUrl]: `jdbc:postgresql://${hostIn(postgres.host)}:${postgres.port}/${database}`,
    [springSettings.datasourceUsername]: role,
    [springSettings.datasourcePassword]: lab.state.databasePassword,
    // HikariCP's default of 30 s would slow down every exercise with a stopped database
    [springSettings.hikariConnectionTimeout]: '1000',
    [springSettings.rabbitHost]: rabbitmq.host,
    [springSettings.rabbitPort]: String(rabbitmq.port),
    [springSettings.rabbitVirtualHost]: vhost ?? rabbitmq.database,
    [springSettings.rabbitUsername]: rabbitmq.user,
    [springSettings.rabbitPassword]: rabbitmq.password,
    [springSettings.redisHost]: redis.host,
    [springSettings.redisPort]: String(redis.port),
    [springSettings.redisDatabase]: redis.database,
    ...(redis.password ? { [springSettings.redisPassword]: redis.password } : {}),
    [names.redisNamespace]: namespace,
    [names.redisSessionTtl]: `${sessionHours}h`,
    [names.rabbitDurable]: 'true',
    [names.tokenValiditySeconds]: '3600',
    [names.endpoint]: serviceUrl(lab),
    [springSettings.serverAddress]: '127.0.0.1',
    [springSettings.serverPort]: String(lab.state.servicePort),
    [springSettings.timeZone]: 'UTC',
  }
  const all = Object.entries({ ...healthy, ...overlay.environment })
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null))
}

/** Returns the machine that the service thinks it runs on. */
export function serviceMachine(lab: Lab, overlay: Overlay): PracticeMachine {
  return practiceMachine({
    cpuinfo: lab.layout.cpuinfo,
    build: '527u01',
    controlPort: lab.state.controlPort,
    brokerRetryMs: 500,
    integrationIntervalMs: 1000,
    ...overlay.machine,
  })
}

export function serviceUrl({ state }: Pick<Lab, 'state'>): string {
  return `http://127.0.0.1:${state.servicePort}`
}

/** Formats `NAME=value` lines as systemd reads them. */
export function environmentText(environment: Readonly<Record<string, string>>): string {
  const line = ([name, value]: [string, string]): string =>
    /^[\w@%+=:,./-]*$/.test(value) ? `${name}=${value}` : `${name}="${value.replace(/(["\\$`])/g, '\\$1')}"`
  return `${Object.entries(environment).map(line).join('\n')}\n`
}

/** Returns the host as written in a URL: an IPv6 address gets brackets. */
export function hostIn(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
