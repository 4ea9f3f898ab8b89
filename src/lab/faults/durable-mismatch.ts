import { deleteTopology } from '../access/broker.ts'
import { nothing } from '../fault.ts'
import type { Expected, Fault } from '../fault.ts'
import { apiFails } from './consequences.ts'
import { declareAnew, durableFalse, startAgain } from './queues.ts'

const expected: Expected = {
  exitCode: 1,
  problems: { 'broker/queues-durable': 'error' },
  allowedConsequences: apiFails,
}

export const durableMismatch: Fault = {
  id: 'durable-mismatch',
  kind: 'fault',
  title: 'the queues exist, but not with the `durable` value that the service asks for',
  repair: 'testops-admin reset-queues; if only the setting is wrong, it changes only that',
  cases: [
    {
      variant: 'setting-false',
      made: 'the queues are durable, VENDOR_RABBIT_DURABLE is set to false, and the service is restarted',
      expected,
      repairedBy: ['reset-queues'],
      changes: durableFalse,
      needs: { serving: true },
      apply: (lab) => startAgain(lab, {}, 'down'),
      revert: nothing,
    },
    {
      variant: 'transient-queues',
      made: 'on a broker that permits transient queues, the queues are transient, VENDOR_RABBIT_DURABLE is set to true, and the service is restarted',
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
