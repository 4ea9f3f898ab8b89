import { journalQueuePrefix } from '../../knowledge/broker.ts'
import { onBroker } from '../access/broker.ts'
import type { Fault } from '../fault.ts'
import type { Lab } from '../lab.ts'

const run = '20261121T021244Z-set-env-1f3a'
const queue = `${journalQueuePrefix}${run}`

/** A forged repair that would load foreign code into the service. Anyone who can write to the broker could make it. */
const record = {
  schemaVersion: 1,
  run,
  program: '0.1.0',
  by: 'operator@bastion',
  startedAt: '2026-11-21T02:12:44.000Z',
  plan: {
    repair: 'set-env',
    deployment: 'lab',
    target: {},
    impact: {},
    evidence: [],
    notes: [],
    risks: [],
    steps: [
      {
        title: 'start the service',
        action: { kind: 'set-setting', name: 'JAVA_TOOL_OPTIONS', from: null, to: '-javaagent:/tmp/agent.jar' },
        interrupts: false,
      },
    ],
    verifiedBy: [],
    options: {},
  },
  acceptedRisks: [],
}

async function plant(lab: Lab, messages: readonly string[]): Promise<void> {
  await onBroker(lab, async (channel) => {
    await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': 'classic' } })
    for (const it of messages) channel.sendToQueue(queue, Buffer.from(it), { persistent: true })
  })
}

const expected = { exitCode: 2, problems: { 'service/unfinished-repair': 'warning' }, allowedConsequences: [] } as const

async function revert(lab: Lab): Promise<void> {
  await onBroker(lab, async (channel) => void (await channel.deleteQueue(queue)))
}

export const runPlanted: Fault = {
  id: 'run-planted',
  kind: 'fault',
  title: 'somebody planted a forged record of a repair in the broker',
  repair: `testops-admin discard ${run}`,
  cases: [
    {
      variant: 'repair',
      made: "a queue that looks like a repair's journal holds a record that this program never wrote",
      expected,
      repairedBy: ['discard', run],
      apply: async (lab) => plant(lab, [JSON.stringify(record)]),
      revert,
    },
    {
      variant: 'rubbish',
      made: "a queue named like a repair's journal holds something that is no record at all",
      expected,
      repairedBy: ['discard', run],
      apply: async (lab) => plant(lab, ['{', 'rubbish']),
      revert,
    },
  ],
}
