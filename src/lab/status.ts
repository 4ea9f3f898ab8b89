import { AdminError } from '../core/error.ts'
import { drillPhase } from './drill-record.ts'
import type { DrillPhase } from './drill-record.ts'
import { operatorAtWork } from './operator-lock.ts'
import { allServers, labNames, openLab, serversOf } from './lab.ts'
import type { Lab, LabOptions, LabServers } from './lab.ts'
import { labLayout } from './layout.ts'
import { serverRunning } from './servers/index.ts'
import type { ServerKind, ServerRecord } from './servers/index.ts'
import { serviceStatus } from './service.ts'
import { hostIn, serviceUrl } from './settings.ts'
import { readState } from './state.ts'
import type { BrokenFault } from './state.ts'
import { unitIn } from './service-control/unit.ts'
import { command, nested } from '../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../core/shell-command.ts'

/** The state of the lab: which parts are running, and where. */
export interface LabStatus {
  /** absent: there is no lab; the other three come from LabState */
  phase: 'absent' | 'starting' | 'up' | 'stopping'
  directory: string
  servers: readonly { kind: ServerKind; version: string; way: string; address: string; running: boolean }[]
  service: { url: string; state: string; detail: string; log: string } | null
  configuration: string | null
  /** faults; those of a drill that is under way are left out */
  broken: readonly Pick<BrokenFault, 'name' | 'since' | 'state'>[]
  /** the drill that is under way; `startedAt`: ISO, null if its clock has not started */
  drill: { phase: DrillPhase; startedAt: string | null } | null
  /** the operator who is changing the lab now */
  operator: { command: string; pid: number; since: string } | null
  /** commands to copy into a shell; they hold no secrets */
  commands: readonly Suggestion[]
}

/** Reads the lab's status without changing anything. */
export async function labStatus(options: LabOptions): Promise<LabStatus> {
  const layout = labLayout(options.root)
  const [state, operator, drill] = await Promise.all([readState(layout), operatorAtWork(layout), drillPhase(layout)])
  const common = {
    directory: layout.root,
    operator: operator && { command: operator.command, pid: operator.pid, since: operator.since },
  }
  if (state?.phase !== 'up') {
    return {
      ...common,
      phase: state?.phase ?? 'absent',
      servers: [],
      service: null,
      configuration: null,
      broken: [],
      drill: null,
      commands: [],
    }
  }
  const lab = await openLab(options)
  // one may be missing if a command was killed while exchanging the broker
  const servers = await serversOf(lab).catch(ifUnavailable)
  const records = servers ? Object.values(servers) : (await allServers(layout)).filter((it) => it.state === 'started')
  const [shown, service] = await Promise.all([Promise.all(records.map(show)), serviceStatus(lab)])
  return {
    ...common,
    phase: 'up',
    servers: shown,
    service: {
      url: serviceUrl(lab),
      state: service.state,
      detail: service.detail,
      log: unitIn(layout.service).logFile,
    },
    configuration: layout.configuration,
    broken: state.faults
      .filter(({ hidden }) => !(drill && hidden))
      .map(({ name, since, state: how }) => ({ name, since, state: how })),
    drill,
    commands: [
      'testops-admin doctor -d lab',
      ...(servers ? serverCommands(lab, servers) : []),
      ...serviceCommands(lab),
    ],
  }
}

function serverCommands({ layout, state }: Lab, servers: LabServers): ShellCommand[] {
  const { database, role } = labNames(state, servers)
  const { postgres, rabbitmq, redis } = servers
  const secret = (name: Parameters<typeof layout.secret>[0]) => nested(command`"$(cat ${layout.secret(name)})"`)
  const login = command`printf 'user = "%s:%s"' ${rabbitmq.user} ${secret('broker')}`
  return [
    command`PGPASSWORD=${secret('database')} psql -h ${postgres.host} -p ${postgres.port} -U ${role} ${database}`,
    command`${nested(redis.password ? command`REDISCLI_AUTH=${secret('sessions')} ` : '')}redis-cli -h ${redis.host} -p
      ${redis.port} -n ${redis.database}`,
    ...(rabbitmq.managementUrl
      ? [command`${nested(login)} | curl -K - ${`${rabbitmq.managementUrl}/api/overview`}`]
      : []),
  ]
}

function serviceCommands(lab: Lab): ShellCommand[] {
  return [
    command`curl ${`${serviceUrl(lab)}/api/management/health`}`,
    command`tail -f ${unitIn(lab.layout.service).logFile}`,
  ]
}

function ifUnavailable(error: unknown): null {
  if (error instanceof AdminError && error.code === 'UNAVAILABLE') return null
  throw error
}

async function show(record: ServerRecord): Promise<LabStatus['servers'][number]> {
  const { kind, version, way, host, port } = record
  return { kind, version, way, address: `${hostIn(host)}:${port}`, running: await serverRunning(record) }
}
