import { deleteTopology } from '../access/broker.ts'
import type { Fault } from '../fault.ts'
import { apiFails } from './consequences.ts'
import { declareAnew, durableUnset } from './queues.ts'

export const transientRefused: Fault = {
  id: 'transient-refused',
  kind: 'fault',
  title: 'the broker refuses the transient queues that the service asks for',
  repair: 'testops-admin reset-queues',
  cases: [
    {
      variant: null,
      made: 'on a broker that refuses transient queues, VENDOR_RABBIT_DURABLE is removed from the settings and the queues are deleted',
      expected: { exitCode: 1, problems: { 'broker/queues-durable': 'error' }, allowedConsequences: apiFails },
      repairedBy: ['reset-queues'],
      changes: durableUnset,
      needs: { broker: '4.3', serving: true },
      apply: (lab) => declareAnew(lab, {}, 'down'),
      revert: deleteTopology,
    },
  ],
}
