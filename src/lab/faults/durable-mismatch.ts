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
  title: 'the queues exist with another durable than the service asks for',
  repair: 'testops-admin reset-queues; where only the setting is wrong, it sets that alone',
  cases: [
    {
      variant: 'setting-false',
      made: 'the queues are durable, VENDOR_RABBIT_DURABLE is set to false, and the service is started again',
      expected,
      repairedBy: ['reset-queues'],
      changes: durableFalse,
      needs: { serving: true },
      apply: (lab) => startAgain(lab, {}, 'down'),
      revert: nothing,
    },
    {
      variant: 'transient-queues',
      made: 'on a broker that permits them the queues are transient, VENDOR_RABBIT_DURABLE is set to true, and the service is started again',
      // they are a danger to the next upgrade as well
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
