import { setMachine } from '../control.ts'
import { nothing } from '../fault.ts'
import type { Fault, FaultCase } from '../fault.ts'

const skew = (variant: string, words: string, offsetMs: number, severity: 'error' | 'warning'): FaultCase => ({
  variant,
  made: `the clock of the service's machine is ${words} ahead`,
  // tokens and sessions get their times from that clock
  expected: {
    exitCode: severity === 'error' ? 1 : 2,
    problems: { 'service/clocks': severity },
    allowedConsequences: ['sessions/clock', 'api/token'],
  },
  changes: { machine: { clockOffsetMs: offsetMs } },
  needs: { serving: true },
  apply: (lab) => setMachine(lab, 'clock', offsetMs),
  revert: nothing,
})

export const clockSkew: Fault = {
  id: 'clock-skew',
  kind: 'fault',
  title: "one component's clock is wrong",
  repair: 'timedatectl set-ntp true, on the machine whose clock is wrong',
  cases: [skew('far', 'ten minutes', 600_000, 'error'), skew('slight', 'twenty seconds', 20_000, 'warning')],
}
