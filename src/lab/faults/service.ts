import { defaultVendor, settingNames, springSettings } from '../../knowledge/settings.ts'
import { setMachine } from '../control.ts'
import type { Fault, FaultCase } from '../fault.ts'
import { apiFails, nothing, notInDrills, serviceFails } from '../fault.ts'
import { restartLabService, stopLabService, waitUntilEnded, waitUntilServing } from '../service.ts'

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
      quickest: [['service', 'start']],
      apply: stopLabService,
      revert: nothing,
    },
  ],
}

export const outOfMemory: Fault = {
  id: 'out-of-memory',
  kind: 'fault',
  title: 'the service runs out of memory and exits',
  repair: 'give the service more memory (details: testops-admin explain service/crashes)',
  cases: [
    {
      variant: null,
      made: 'JAVA_TOOL_OPTIONS limits the JVM to 64 MB; the service is restarted and exits',
      expected: {
        exitCode: 1,
        problems: { 'service/crashes': 'error' },
        allowedConsequences: serviceFails.filter((id) => id !== 'service/crashes'),
      },
      quickest: [{ edit: 'service/service.env', so: 'remove JAVA_TOOL_OPTIONS' }, ['service', 'start']],
      changes: { environment: { JAVA_TOOL_OPTIONS: '-Xmx64m -XX:+ExitOnOutOfMemoryError' } },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilEnded(lab)
      },
      revert: nothing,
    },
  ],
}

export const settingsNotApplied: Fault = {
  id: 'settings-not-applied',
  kind: 'fault',
  title: 'settings were changed, but the service was not restarted',
  repair: 'testops-admin service restart',
  cases: [
    {
      variant: null,
      made:
        `${springSettings.hikariConnectionTimeout} was changed in the environment file, but the service has not ` +
        'been restarted since',
      expected: { exitCode: 2, problems: { 'service/settings': 'warning' }, allowedConsequences: [] },
      quickest: [['service', 'restart']],
      changes: { environment: { [springSettings.hikariConnectionTimeout]: '1500' } },
      apply: nothing,
      revert: nothing,
    },
  ],
}

const { integrationLogLevel } = settingNames(defaultVendor)

export const debugLeftOn: Fault = {
  id: 'debug-left-on',
  kind: 'fault',
  title: 'debug output for integrations was left on',
  repair: 'testops-admin set-env --integration-debug off',
  cases: [
    {
      variant: null,
      made: `${integrationLogLevel} is set to debug, and the service is restarted`,
      expected: { exitCode: 2, problems: { 'integrations/debug-logging': 'warning' }, allowedConsequences: [] },
      repairedBy: ['set-env', '--integration-debug', 'off'],
      changes: { environment: { [integrationLogLevel]: 'debug' } },
      needs: { serving: true },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: nothing,
    },
  ],
}

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
  notInDrills: notInDrills.machine,
  cases: [skew('far', 'ten minutes', 600_000, 'error'), skew('slight', 'twenty seconds', 20_000, 'warning')],
}
