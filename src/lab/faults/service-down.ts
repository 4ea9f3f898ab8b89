import { nothing } from '../fault.ts'
import type { Fault } from '../fault.ts'
import { stopLabService } from '../service.ts'
import { apiFails } from './consequences.ts'

export const serviceDown: Fault = {
  id: 'service-down',
  kind: 'fault',
  title: 'the service is not running',
  repair: 'start the service',
  cases: [
    {
      variant: null,
      made: 'the service is stopped',
      expected: { exitCode: 1, problems: { 'service/running': 'error' }, allowedConsequences: apiFails },
      apply: stopLabService,
      revert: nothing,
    },
  ],
}
