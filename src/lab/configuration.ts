import { rm } from 'node:fs/promises'
import { labLayout, labProgram } from './layout.ts'
import type { Overlay } from './changes.ts'
import { addressOf, integrationName } from './external-system/orders.ts'
import { labNames } from './lab.ts'
import type { Lab, LabServers } from './lab.ts'
import { filesIn } from './reverse-proxy/orders.ts'
import { hostIn, serviceUrl } from './settings.ts'
import { unitIn } from './service-control/unit.ts'
import { writePrivate } from './servers/record.ts'
import { seedUsers } from './practice-service/data/seeds.ts'
import { defaultVendor } from '../knowledge/settings.ts'
import type { Command } from '../platforms/index.ts'

/** The user whose API token the lab's configuration has: the administrator. */
export const labUser = seedUsers[0]!

/** Users with fewer rights, to practise with. Each has an API token and a deployment of that name. */
const others = {
  'lab-owner': {
    secret: 'api-token-owner',
    user: seedUsers[1]!,
    about: `owns project ${seedUsers[1]!.owns.join(' and ')} and has no other role`,
  },
  'lab-guest': { secret: 'api-token-guest', user: seedUsers[2]!, about: 'has no role at all' },
} as const

/** Returns the commands that start, stop and show the service in that folder. */
function serviceCommands(directory: string): { start: Command; stop: Command; status: Command } {
  const control = labProgram('lab/service-control.js')
  const command = (verb: string): Command => [...control, verb, directory]
  return { start: command('start'), stop: command('stop'), status: ['/bin/sh', unitIn(directory).statusFile] }
}

/** Writes the deployment's configuration and its secrets, for `-d lab`. */
export async function writeConfiguration(lab: Lab, servers: LabServers, overlay: Overlay): Promise<void> {
  const { layout, state } = lab
  const { rabbitmq, redis } = servers
  await writePrivate(layout.secret('database'), state.databasePassword)
  await writePrivate(layout.secret('broker'), rabbitmq.password)
  if (redis.password) await writePrivate(layout.secret('sessions'), redis.password)
  await writePrivate(layout.secret('api-token'), labUser.apiToken)
  for (const { secret, user } of Object.values(others)) await writePrivate(layout.secret(secret), user.apiToken)
  const { integration } = overlay.declared
  if (integration) await writePrivate(layout.secret('integration'), `${integration.password}\n`)
  else await rm(layout.secret('integration'), { force: true })
  await writePrivate(layout.configuration, await configurationText(lab, servers, overlay))
}

async function configurationText(
  { layout: { root }, state }: Lab,
  servers: LabServers,
  { declared }: Overlay,
): Promise<string> {
  const { postgres, rabbitmq, redis } = servers
  const { database, role, vhost, namespace } = labNames(state, servers)
  const layout = labLayout(root)
  const unit = unitIn(layout.service)
  const commands = serviceCommands(layout.service)
  const q = (value: unknown): string => JSON.stringify(value)
  const secret = (name: Parameters<typeof layout.secret>[0]): string => `{file: ${q(layout.secret(name))}}`
  const address = declared.integration && (await addressOf(layout))
  const integration =
    address === null
      ? ''
      : `    integrations: [{name: ${integrationName}, url: ${q(address)}, user: ` +
        `${q(declared.integration?.user)}, password: ${secret('integration')}}]\n`
  const brokerUrl =
    `amqp://${encodeURIComponent(rabbitmq.user)}@${hostIn(rabbitmq.host)}:${rabbitmq.port}/` +
    encodeURIComponent(vhost ?? rabbitmq.database)
  const sessionsPassword = redis.password ? `      password: ${secret('sessions')}\n` : ''
  const accessLog = declared.accessLog ? `    accessLog: {file: ${q(filesIn(layout.proxy).accessLog)}}\n` : ''
  const asOthers = Object.entries(others)
    .map(
      ([name, { secret: token, user, about }]) =>
        `  ${name}: {url: ${q(serviceUrl({ state }))}, apiToken: ${secret(token)}} # ${user.username}, who ${about}\n`,
    )
    .join('')
  return `# The practice deployment, written by \`testops-admin lab up\`. Your changes here will be lost.
current: lab
deployments:
  lab:
    url: ${q(serviceUrl({ state }))}
    apiToken: ${secret('api-token')}
    platform: host
    host:
      commands:
        start: ${q(commands.start)}
        stop: ${q(commands.stop)}
        status: ${q(commands.status)}
      logs: {file: ${q(unit.logFile)}}
      environmentFile: ${q(unit.environmentFile)}
    image: ${q(declared.image)}
    build: ${q(declared.build)}
    cpuinfo: ${q(layout.cpuinfo)}
    timeZone: ${q(declared.timeZone)}
    vendor: {prefix: ${defaultVendor.prefix}, package: ${defaultVendor.package}}
    database:
      url: ${q(`postgresql://${role}@${hostIn(postgres.host)}:${postgres.port}/${database}`)}
      password: ${secret('database')}
    broker:
      url: ${q(brokerUrl)}
      password: ${secret('broker')}
${rabbitmq.managementUrl === undefined ? '' : `      managementUrl: ${q(rabbitmq.managementUrl)}\n`}    sessions:
      url: ${q(`redis://${hostIn(redis.host)}:${redis.port}/${redis.database}`)}
      namespace: ${q(namespace)}
${sessionsPassword}${accessLog}${integration}${asOthers}`
}
