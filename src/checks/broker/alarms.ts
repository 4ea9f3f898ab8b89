import { defineCheck } from '../../core/check.ts'
import type { Finding } from '../../core/check.ts'
import type { BrokerNode } from '../../core/sources.ts'
import { rabbitmqctl } from '../support/evidence.ts'
import { bytes, listed } from '../support/format.ts'

export const brokerAlarms = defineCheck({
  id: 'broker/alarms',
  title: 'broker raises no alarm',
  reads: ['broker'],
  explains: ['service/running', 'api/reachable', 'api/token', 'api/token-lifetime', 'api/latency', 'trees/migrated'],
  remedy: {
    text: 'Give the broker memory or disk, or take messages away that nobody reads. While an alarm lasts, every publisher is blocked.',
    commands: ['rabbitmq-diagnostics alarms', 'rabbitmq-diagnostics memory_breakdown', 'df -h'],
  },
  async run({ broker }) {
    const nodes = await broker.nodes()
    const findings = nodes.flatMap(alarmsOf)
    const [first, ...others] = findings
    if (first) return { status: 'problem', severity: 'error', findings: [first, ...others] }
    const down = nodes.filter(({ running }) => !running).map(({ name }) => name)
    if (down.length > 0) {
      const finding: Finding = {
        message: `of the broker's nodes, ${listed(down)} does not run`,
        evidence: [rabbitmqctl(null, 'cluster_status'), listed(down)],
      }
      return { status: 'problem', severity: 'warning', findings: [finding] }
    }
    return { status: 'ok', detail: nodes.map(figures).join('; ') || `${broker.target} lists no node` }
  },
})

function alarmsOf(node: BrokerNode): Finding[] {
  const evidence = ['rabbitmq-diagnostics alarms', figures(node)]
  const { name, memoryUsedBytes, memoryLimitBytes, diskFreeBytes, diskLimitBytes } = node
  return [
    ...(node.memoryAlarm
      ? [
          {
            message: `memory alarm on ${name}: ${bytes(memoryUsedBytes)} used, the limit is ${bytes(memoryLimitBytes)}; publishers are blocked`,
            evidence,
          },
        ]
      : []),
    ...(node.diskAlarm
      ? [
          {
            message: `disk alarm on ${name}: ${bytes(diskFreeBytes)} free, the limit is ${bytes(diskLimitBytes)}; publishers are blocked`,
            evidence,
          },
        ]
      : []),
  ]
}

function figures({ name, memoryUsedBytes, memoryLimitBytes, diskFreeBytes, diskLimitBytes }: BrokerNode): string {
  return `${name}: memory ${bytes(memoryUsedBytes)} of ${bytes(memoryLimitBytes)}, disk ${bytes(diskFreeBytes)} free (limit ${bytes(diskLimitBytes)})`
}
