import { deleteTopology } from '../access/broker.ts'
import type { Fault } from '../fault.ts'
import { declareAnew, durableFalse } from './queues.ts'

export const transientAhead: Fault = {
  id: 'transient-ahead',
  kind: 'fault',
  title: 'transient queues work on this broker, but its next version will refuse them',
  repair: 'testops-admin reset-queues, before the broker is upgraded',
  cases: [
    {
      variant: null,
      made: 'on a broker before 4.3, VENDOR_RABBIT_DURABLE is set to false and the queues are redeclared as transient',
      expected: { exitCode: 2, problems: { 'broker/upgrade': 'warning' }, allowedConsequences: [] },
      repairedBy: ['reset-queues'],
      changes: durableFalse,
      needs: { broker: '3', serving: true },
      apply: (lab) => declareAnew(lab, {}, 'up'),
      revert: deleteTopology,
    },
  ],
}
