import { defineCheck } from '../../core/check.ts'
import type { Finding, Outcome, Remedy } from '../../core/check.ts'
import { typedOn } from '../../core/host.ts'
import type { BrokerNode, BrokerSource } from '../../core/sources.ts'
import { serviceFails } from '../support/consequences.ts'
import { onBroker, rabbitmqctl } from '../../domain/evidence.ts'
import { bytes, listed } from '../../core/format.ts'
import { command } from '../../core/shell-command.ts'

export const brokerAlarms = defineCheck({
  id: 'broker/alarms',
  title: 'the broker has no alarm',
  reads: ['broker'],
  explains: serviceFails,
  async run({ broker }): Promise<Outcome> {
    const nodes = await broker.nodes()
    const [first, ...others] = nodes.flatMap((node) => alarmsOf(node, broker))
    if (first)
      return { status: 'problem', severity: 'error', findings: [first, ...others], remedy: relief(nodes, broker) }
    const down = nodes.filter(({ running }) => !running).map(({ name }) => name)
    if (down.length > 0) {
      const finding: Finding = {
        message:
          `broker ${down.length === 1 ? 'node' : 'nodes'} ${listed(down)} ${down.length === 1 ? 'is' : 'are'} ` +
          'down',
        evidence: [onBroker(broker, 'rabbitmqctl cluster_status'), `not running: ${listed(down)}`],
      }
      return { status: 'problem', severity: 'warning', findings: [finding], remedy: revival(down, broker) }
    }
    const shown = nodes.map((node) => (node.figures ? figuresOf(node) : `${figuresOf(node)}, without an alarm`))
    return { status: 'ok', detail: shown.join('; ') || `${broker.target} lists no nodes` }
  },
})

function alarmsOf(node: BrokerNode, broker: BrokerSource): Finding[] {
  const { name, memoryAlarm, diskAlarm, figures } = node
  const evidence = [onBroker(broker, 'rabbitmq-diagnostics alarms'), figuresOf(node)]
  const memory = figures && `${bytes(figures.memoryUsedBytes)} used, the limit is ${bytes(figures.memoryLimitBytes)}`
  const disk = figures && `${bytes(figures.diskFreeBytes)} free, the limit is ${bytes(figures.diskLimitBytes)}`
  const finding = (kind: string, shown: string | null): Finding => ({
    message: `${kind} alarm on ${name}: ${shown ?? noFigures}; publishers are blocked`,
    evidence,
  })
  return [...(memoryAlarm ? [finding('memory', memory)] : []), ...(diskAlarm ? [finding('disk', disk)] : [])]
}

const noFigures = 'the node has just started and has no figures yet'

function figuresOf({ name, figures }: BrokerNode): string {
  if (figures === null) return `${name}: ${noFigures}`
  const { memoryUsedBytes, memoryLimitBytes, diskFreeBytes, diskLimitBytes } = figures
  return (
    `${name}: memory ${bytes(memoryUsedBytes)} of ${bytes(memoryLimitBytes)} used, disk ${bytes(diskFreeBytes)} ` +
    `free (alarm below ${bytes(diskLimitBytes)})`
  )
}

function relief(nodes: readonly BrokerNode[], broker: BrokerSource): Remedy {
  const short = (holds: (node: BrokerNode) => boolean): string[] => nodes.filter(holds).map(({ name }) => name)
  const memory = short(({ memoryAlarm }) => memoryAlarm)
  const disk = short(({ diskAlarm }) => diskAlarm)
  const wanted = [
    ...(memory.length > 0 ? [`memory to ${listed(memory)}`] : []),
    ...(disk.length > 0 ? [`disk space to ${listed(disk)}`] : []),
  ].join(' and ')
  return {
    text:
      `Give more ${wanted}, or remove messages that nobody reads. Until the alarm ends, the broker blocks every ` +
      'publisher.',
    commands: [
      ...memory.map((node) => onBroker(broker, command`rabbitmq-diagnostics -n ${node} memory_breakdown`)),
      ...disk.map((node) => typedOn(machineOf(node), 'df -H /var/lib/rabbitmq')),
      rabbitmqctl(broker, 'list_queues name messages consumers'),
    ],
  }
}

function revival(down: readonly string[], broker: BrokerSource): Remedy {
  return {
    text:
      'Start these nodes. If they will never return, remove them from the cluster with `rabbitmqctl ' +
      'forget_cluster_node`.',
    commands: [
      ...down.map((node) => typedOn(machineOf(node), 'sudo systemctl start rabbitmq-server')),
      onBroker(broker, 'rabbitmqctl cluster_status'),
    ],
  }
}

/** Returns the machine of a node, which is named NAME@MACHINE. */
function machineOf(node: string): string {
  return node.split('@').at(-1) ?? node
}
