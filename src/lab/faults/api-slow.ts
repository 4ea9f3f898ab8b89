import { setMachine } from '../control.ts'
import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'

const delayMs = 1200

export const apiSlow: Fault = {
  id: 'api-slow',
  kind: 'fault',
  title: 'the service is slow to answer',
  repair: 'find out what keeps it busy: testops-admin explain api/latency',
  cases: [
    {
      variant: null,
      made: `the service waits ${delayMs / 1000} s before each answer`,
      expected: { exitCode: 2, problems: { 'api/latency': 'warning' }, allowedConsequences: [] },
      changes: { machine: { responseDelayMs: delayMs } },
      needs: { serving: true },
      apply: (lab) => setMachine(lab, 'delay', delayMs),
      revert: nothing,
    },
  ],
}
