import { operatorAtWork } from './operator-lock.ts'
import { labNames, openLab, serversOf } from './lab.ts'
import type { LabOptions } from './lab.ts'
import { labLayout } from './layout.ts'
import { serverRunning } from './servers/index.ts'
import type { ServerKind, ServerRecord } from './servers/index.ts'
import { serviceStatus } from './service.ts'
import { hostIn, serviceUrl } from './settings.ts'
import { readState } from './state.ts'
import type { BrokenFault } from './state.ts'
import { unitIn } from './service-control/unit.ts'

/** What runs where. */
export interface LabStatus {
  /** absent: there is no lab; the other three are LabState's */
  phase: 'absent' | 'starting' | 'up' | 'stopping'
  directory: string
  servers: readonly { kind: ServerKind; version: string; way: string; address: string; running: boolean }[]
  service: { url: string; state: string; detail: string; log: string } | null
  configuration: string | null
  broken: readonly Pick<BrokenFault, 'name' | 'since' | 'state'>[]
  /** who changes the lab just now */
  operator: { command: string; pid: number; since: string } | null
  /** lines to copy into a shell; no secret is in them */
  commands: readonly string[]
}

/** Looks at the lab without changing anything. */
export async function labStatus(options: LabOptions): Promise<LabStatus> {
  const layout = labLayout(options.root)
  const [state, operator] = await Promise.all([readState(layout), operatorAtWork(layout)])
  const common = { directory: layout.root, operator: operator && { command: operator.command, pid: operator.pid, since: operator.since } }
  if (state?.phase !== 'up') {
    return { ...common, phase: state?.phase ?? 'absent', servers: [], service: null, configuration: null, broken: [], commands: [] }
  }
  const lab = await openLab(options)
  const servers = await serversOf(lab)
  const { database, role } = labNames(state, servers)
  const [shown, service] = await Promise.all([Promise.all(Object.values(servers).map(show)), serviceStatus(lab)])
  const { postgres, rabbitmq, redis } = servers
  return {
    ...common,
    phase: 'up',
    servers: shown,
    service: { url: serviceUrl(lab), state: service.state, detail: service.detail, log: unitIn(layout.service).logFile },
    configuration: layout.configuration,
    broken: state.faults.map(({ name, since, state: how }) => ({ name, since, state: how })),
    commands: [
      'testops-admin doctor -d lab',
      `PGPASSWORD=$(cat ${layout.secret('database')}) psql -h ${postgres.host} -p ${postgres.port} -U ${role} ${database}`,
      `${redis.password ? `REDISCLI_AUTH=$(cat ${layout.secret('sessions')}) ` : ''}redis-cli -h ${redis.host} -p ${redis.port} -n ${redis.database}`,
      ...(rabbitmq.managementUrl ? [`curl -K <(echo "user = ${rabbitmq.user}:$(cat ${layout.secret('broker')})") ${rabbitmq.managementUrl}/api/overview`] : []),
      `curl ${serviceUrl(lab)}/api/management/health`,
      `tail -f ${unitIn(layout.service).logFile}`,
    ],
  }
}

async function show(record: ServerRecord): Promise<LabStatus['servers'][number]> {
  const { kind, version, way, host, port } = record
  return { kind, version, way, address: `${hostIn(host)}:${port}`, running: await serverRunning(record) }
}
