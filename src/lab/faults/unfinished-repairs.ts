import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { journalQueuePrefix } from '../../knowledge/broker.ts'
import { onBroker } from '../access/broker.ts'
import { waitForPhase } from '../control.ts'
import type { Fault } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { forgetRuns, repairUntilKilled } from '../repairs.ts'
import { restartLabService } from '../service.ts'
import { serviceFails } from '../fault.ts'
import { killWhileMigrating, restoreChangelog, shortlyPending } from './trees.ts'

const expected = {
  exitCode: 1,
  problems: { 'service/unfinished-repair': 'error' },
  allowedConsequences: ['database/changelog-lock', 'service/running', ...serviceFails],
} as const

/** Makes a stuck lock, and kills its repair once it has stopped the service. */
async function killRepair(lab: Lab, stateHome?: string): Promise<void> {
  await killWhileMigrating(lab)
  await restartLabService(lab)
  await waitForPhase(lab, 'waiting-for-lock')
  await repairUntilKilled(lab, ['unlock-changelog'], 'stop-service:after', stateHome)
}

/** Returns the state folder of the operator on the other machine. */
function elsewhere({ layout }: Lab): string {
  return join(layout.root, 'service', 'elsewhere')
}

async function revert(lab: Lab): Promise<void> {
  await forgetRuns(lab)
  // else that operator could not begin a repair the next time
  await rm(elsewhere(lab), { recursive: true, force: true })
  await restoreChangelog(lab)
}

export const unfinishedRepair: Fault = {
  id: 'unfinished-repair',
  kind: 'fault',
  title: 'a repair was killed halfway',
  repair: 'testops-admin resume',
  cases: [
    {
      variant: 'here',
      made: 'the change-log lock is stuck; unlock-changelog is killed (SIGKILL) after it has stopped the service',
      expected,
      quickest: [['resume']],
      changes: shortlyPending,
      apply: async (lab) => killRepair(lab),
      revert,
    },
    {
      variant: 'elsewhere',
      made:
        'the change-log lock is stuck; on another machine, unlock-changelog is killed (SIGKILL) after it has ' +
        'stopped the service, so only the deployment has a record of the repair, not this machine',
      expected,
      // doctor prints the name of the run; a person reads its plan first
      quickest: [
        ['resume', '--adopt', 'RUN', '--dry-run'],
        ['resume', '--adopt', 'RUN', '--accept-risk', 'foreign-run'],
      ],
      changes: shortlyPending,
      apply: async (lab) => killRepair(lab, elsewhere(lab)),
      revert,
    },
  ],
}

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

const expectedWarning = {
  exitCode: 2,
  problems: { 'service/unfinished-repair': 'warning' },
  allowedConsequences: [],
} as const

async function deletePlanted(lab: Lab): Promise<void> {
  await onBroker(lab, async (channel) => void (await channel.deleteQueue(queue)))
}

export const runPlanted: Fault = {
  id: 'run-planted',
  kind: 'fault',
  title: 'somebody put a forged record of a repair into the broker',
  repair: `testops-admin discard ${run}`,
  cases: [
    {
      variant: 'repair',
      made:
        "RabbitMQ has a queue with the name of a repair's saved record, but testops-admin did not write the record " +
        'in it',
      expected: expectedWarning,
      repairedBy: ['discard', run],
      apply: async (lab) => plant(lab, [JSON.stringify(record)]),
      revert: deletePlanted,
    },
    {
      variant: 'rubbish',
      made: "RabbitMQ has a queue with the name of a repair's saved record, but its messages are not a record",
      expected: expectedWarning,
      repairedBy: ['discard', run],
      apply: async (lab) => plant(lab, ['{', 'rubbish']),
      revert: deletePlanted,
    },
  ],
}
