import { serviceSettings } from '../../../src/checks/service/settings.ts'
import { AdminError } from '../../../src/core/error.ts'
import { Secret } from '../../../src/core/secret.ts'
import { drift, fakeService, unreachable } from '../../fakes/index.ts'
import type { CheckTable } from '../table.ts'

export const serviceSettingsTable: CheckTable = {
  check: serviceSettings,
  cases: [
    {
      situation: 'all are as written down',
      status: 'ok',
      says: ['the service runs with the settings in /etc/testops/testops.env'],
    },
    {
      situation: 'some are not, one of them a secret',
      sources: {
        service: fakeService({
          drift: drift([
            { name: 'TZ', declared: 'Europe/Berlin', runs: 'UTC' },
            { name: 'SERVER_PORT', declared: null, runs: '8080' },
            { name: 'SPRING_RABBITMQ_PASSWORD', declared: new Secret('new-value'), runs: new Secret('old-value') },
          ]),
        }),
      },
      status: 'problem',
      severity: 'warning',
      says: [
        '3 settings in /etc/testops/testops.env differ from what the service runs with: TZ, SERVER_PORT, ' +
          'SPRING_RABBITMQ_PASSWORD',
        'TZ: declared `Europe/Berlin`, runs with `UTC`',
        'SERVER_PORT: declared nothing, runs with `8080`',
        'SPRING_RABBITMQ_PASSWORD: another value (a secret)',
        'testops-admin service restart -d prod',
      ],
      silentOn: ['new-value', 'old-value'],
    },
    {
      situation: 'the values file says otherwise',
      sources: { service: fakeService({ drift: drift([{ name: 'version', declared: '527u01', runs: '526u03' }]) }) },
      deployment: { platform: 'kubernetes' },
      status: 'problem',
      severity: 'warning',
      says: ['1 setting in /etc/testops/testops.env differs from what', 'helm upgrade RELEASE CHART -f VALUES'],
    },
    {
      situation: 'nothing says what is meant',
      sources: { service: fakeService({ drift: new AdminError('NOT_CONFIGURED', 'no values file is named') }) },
      status: 'skipped',
      says: ['no values file is named'],
    },
    {
      situation: 'what runs may not be seen',
      sources: { service: fakeService({ drift: new AdminError('FORBIDDEN', 'another user') }) },
      status: 'skipped',
    },
    {
      situation: 'the platform stops answering',
      sources: { service: fakeService({ drift: new AdminError('TIMED_OUT', 'late') }) },
      status: 'unknown',
      code: 'TIMED_OUT',
    },
    {
      situation: 'the platform cannot be asked',
      sources: { service: unreachable('service') },
      status: 'unknown',
      because: 'service/running',
    },
  ],
}
