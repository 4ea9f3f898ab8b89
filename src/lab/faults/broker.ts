import { askManagement } from '../access/broker.ts'
import type { Fault } from '../fault.ts'
import { nothing, notInDrills, serviceFails } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { serversOf } from '../lab.ts'
import { brokerControl, stopServer } from '../servers/index.ts'
import { until } from '../service.ts'

export const brokerDown: Fault = {
  id: 'broker-down',
  kind: 'fault',
  title: 'the broker is not running',
  repair: 'start RabbitMQ',
  notInDrills: notInDrills.server,
  cases: [
    {
      variant: null,
      made: 'RabbitMQ is stopped',
      expected: { exitCode: 1, problems: { 'broker/reachable': 'error' }, allowedConsequences: serviceFails },
      needs: { own: ['rabbitmq'] },
      async apply(lab) {
        await stopServer((await serversOf(lab)).rabbitmq)
      },
      revert: nothing,
    },
  ],
}

async function set(lab: Lab, ...args: string[]): Promise<void> {
  await brokerControl((await serversOf(lab)).rabbitmq, args)
}

/** Resets both limits, as a restart of the node would: they are set on the running node only. */
async function unset(lab: Lab): Promise<void> {
  await set(lab, 'set_vm_memory_high_watermark', '0.6')
  await set(lab, 'set_disk_free_limit', '50MB')
}

/** Waits for the management API to show the alarm, some seconds after publishers notice it. */
async function raised(lab: Lab, alarm: 'mem_alarm' | 'disk_free_alarm'): Promise<void> {
  await until(lab, `the broker shows ${alarm}`, async () => {
    const nodes = await askManagement(await serversOf(lab), '/api/nodes')
    return Array.isArray(nodes) && nodes.some((node: Record<string, unknown>) => node[alarm] === true)
  })
}

export const brokerAlarm: Fault = {
  id: 'broker-alarm',
  kind: 'fault',
  title: 'the broker has raised an alarm and blocks publishers',
  repair: 'give the broker more memory or disk space, or drain its queues',
  notInDrills: notInDrills.server,
  cases: [
    {
      variant: 'memory',
      made: "the broker's memory limit is set below its current use",
      expected: { exitCode: 1, problems: { 'broker/alarms': 'error' }, allowedConsequences: [] },
      needs: { own: ['rabbitmq'] },
      async apply(lab) {
        await set(lab, 'set_vm_memory_high_watermark', 'absolute', '16MB')
        await raised(lab, 'mem_alarm')
      },
      revert: unset,
    },
    {
      variant: 'disk',
      made: "the broker's limit for free disk space is set higher than the free space",
      expected: { exitCode: 1, problems: { 'broker/alarms': 'error' }, allowedConsequences: [] },
      needs: { own: ['rabbitmq'] },
      async apply(lab) {
        await set(lab, 'set_disk_free_limit', '900000GB')
        await raised(lab, 'disk_free_alarm')
      },
      revert: unset,
    },
  ],
}
