import { defaultVendor, settingNames } from '../../knowledge/settings.ts'
import { deleteTopology, onBroker, askManagement } from '../access/broker.ts'
import type { Changes } from '../changes.ts'
import { waitForBroker } from '../control.ts'
import type { Expected, Fault, FaultCase } from '../fault.ts'
import { apiFails, nothing, notInDrills, serviceFails } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { restartLabService, stopLabService, waitUntilServing, until } from '../service.ts'
import { serversOf } from '../lab.ts'
import { brokerControl, stopServer } from '../servers/index.ts'

const { rabbitDurable } = settingNames(defaultVendor)

/** Removes the setting. The service asks for transient queues by default. */
const durableUnset: Changes = { environment: { [rabbitDurable]: null } }
const durableFalse: Changes = { environment: { [rabbitDurable]: 'false' } }

/** Starts the service on a broker without its queues. Waits until it has declared them or was refused. */
async function declareAnew(lab: Lab, passing: Changes, broker: 'up' | 'down'): Promise<void> {
  await stopLabService(lab)
  await deleteTopology(lab)
  await startAgain(lab, passing, broker)
}

async function startAgain(lab: Lab, passing: Changes, broker: 'up' | 'down'): Promise<void> {
  await restartLabService(lab, passing)
  await waitUntilServing(lab)
  await waitForBroker(lab, broker)
}

const expected: Expected = {
  exitCode: 1,
  problems: { 'broker/queues-durable': 'error' },
  allowedConsequences: apiFails,
}

export const durableMismatch: Fault = {
  id: 'durable-mismatch',
  kind: 'fault',
  title: 'the queues exist, but not with the `durable` value that the service asks for',
  repair:
    'testops-admin reset-queues; if only the setting is wrong, it changes the setting and leaves the queues alone',
  cases: [
    {
      variant: 'setting-false',
      made:
        'the queues are durable; VENDOR_RABBIT_DURABLE is set to false, so the restarted service asks for transient ' +
        'ones',
      expected,
      repairedBy: ['reset-queues'],
      changes: durableFalse,
      needs: { serving: true },
      apply: (lab) => startAgain(lab, {}, 'down'),
      revert: nothing,
    },
    {
      variant: 'transient-queues',
      made:
        'the queues are transient, on a broker that permits transient queues; VENDOR_RABBIT_DURABLE is set to ' +
        'true, so the restarted service asks for durable ones',
      // they also put the next upgrade at risk
      expected: { ...expected, allowedConsequences: ['broker/upgrade', ...apiFails] },
      repairedBy: ['reset-queues'],
      needs: { broker: '3', serving: true },
      async apply(lab) {
        await declareAnew(lab, durableFalse, 'up')
        await startAgain(lab, {}, 'down')
      },
      revert: deleteTopology,
    },
  ],
}

export const transientAhead: Fault = {
  id: 'transient-ahead',
  kind: 'fault',
  title: 'the broker still permits transient queues, but will refuse them after an upgrade to 4.3',
  repair: 'testops-admin reset-queues, before you upgrade the broker',
  cases: [
    {
      variant: null,
      made:
        'on a broker older than 4.3, VENDOR_RABBIT_DURABLE is set to false and the queues are redeclared as ' +
        'transient',
      expected: { exitCode: 2, problems: { 'broker/upgrade': 'warning' }, allowedConsequences: [] },
      repairedBy: ['reset-queues'],
      changes: durableFalse,
      needs: { broker: '3', serving: true },
      apply: (lab) => declareAnew(lab, {}, 'up'),
      revert: deleteTopology,
    },
  ],
}

export const transientRefused: Fault = {
  id: 'transient-refused',
  kind: 'fault',
  title: 'the broker refuses the transient queues that the service asks for',
  repair: 'testops-admin reset-queues',
  cases: [
    {
      variant: null,
      made:
        'VENDOR_RABBIT_DURABLE is missing from the settings and the queues are gone, so the service asks for ' +
        'transient queues, which the broker refuses',
      expected: { exitCode: 1, problems: { 'broker/queues-durable': 'error' }, allowedConsequences: apiFails },
      repairedBy: ['reset-queues'],
      changes: durableUnset,
      needs: { broker: '4.3', serving: true },
      apply: (lab) => declareAnew(lab, {}, 'down'),
      revert: deleteTopology,
    },
  ],
}

const queues = ['billing.invoices', 'billing.reminders', 'metrics_upload']

async function remove(lab: Lab): Promise<void> {
  await onBroker(lab, async (channel) => {
    for (const name of queues) await channel.deleteQueue(name)
    await channel.deleteExchange('billing')
  })
}

function foreign(durable: boolean): Omit<FaultCase, 'variant' | 'made'> {
  return {
    expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
    needs: { serving: true },
    async apply(lab) {
      // after a change of the broker, the service needs a moment to reconnect
      await waitForBroker(lab, 'up')
      await onBroker(lab, async (channel) => {
        await channel.assertExchange('billing', 'topic', { durable })
        for (const name of queues) {
          await channel.assertQueue(name, { durable, arguments: { 'x-message-ttl': 3_600_000 } })
          await channel.bindQueue(name, 'billing', '#')
          channel.sendToQueue(name, Buffer.from('not yours'))
        }
      })
    },
    revert: remove,
  }
}

export const foreignQueues: Fault = {
  id: 'foreign-queues',
  kind: 'healthy',
  title: "another program has queues in the service's virtual host",
  repair: 'nothing to do',
  cases: [
    {
      ...foreign(true),
      variant: 'durable',
      made: "another program has durable queues with messages in the service's virtual host",
    },
    {
      ...foreign(false),
      variant: 'transient',
      made:
        "another program has transient queues with messages in the service's virtual host, on a broker that " +
        'permits transient queues',
      needs: { broker: '3', serving: true },
    },
  ],
}

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
