import { integrationsDebugLogging } from '../../../src/checks/integrations/debug-logging.ts'
import { integrationsReachable } from '../../../src/checks/integrations/reachable.ts'
import type { LogRecord } from '../../../src/core/sources.ts'
import { AdminError } from '../../../src/core/error.ts'
import { PartialSettings } from '../../../src/core/deployment.ts'
import { Secret } from '../../../src/core/secret.ts'
import { ago, fakeLogs, fakeNetwork, fakeService, record, settings, unreachable } from '../../fakes/index.ts'
import type { CheckTable, Parts } from '../table.ts'

const unknown = (host: string, at: Date | null): LogRecord =>
  record(
    `i.q.a.integration.Service : Can't connect\njava.net.UnknownHostException: ${host}\n\tat ` +
      'java.base/java.net.InetAddress',
    { at, level: 'ERROR' },
  )

function seen(records: readonly LogRecord[], here: boolean, there: boolean | null | AdminError = here): Parts {
  return {
    logs: fakeLogs({ recent: { complete: true, records } }),
    network: fakeNetwork({ resolve: here }),
    service: fakeService({
      resolve: there,
      environment: settings({
        SPRING_DATASOURCE_URL: 'jdbc:postgresql://postgres.db:5432/testops',
        SPRING_RABBITMQ_HOST: 'mq',
      }),
    }),
  }
}

const old = ago(5 * 3_600_000)
const fresh = ago(2 * 60_000)

export const integrationsReachableTable: CheckTable = {
  check: integrationsReachable,
  cases: [
    { situation: 'the log tells of none', status: 'ok', says: ['no unknown-host error in 1 record of '] },
    {
      situation: 'an old exception of a host that resolves again',
      sources: seen([unknown('jira.example.org', old)], true),
      status: 'ok',
      says: ['this name resolves again: jira.example.org'],
    },
    {
      situation: 'the host is the database, which has a check of its own',
      sources: seen([unknown('postgres.db', fresh), unknown('mq', fresh)], false),
      status: 'ok',
    },
    {
      situation: 'a host that does not resolve',
      sources: seen(
        [
          unknown('jira.example.org', old),
          unknown('jira.example.org', fresh),
          unknown('jira.example.org: Name or service not known', fresh),
        ],
        false,
      ),
      status: 'problem',
      severity: 'error',
      says: [
        'jira.example.org: java.net.UnknownHostException 3 times, first ',
        'this name does not resolve on this machine and does not resolve where the service runs',
        "grep -F 'UnknownHostException: jira.example.org' /var/log/testops/testops.log | tail -1",
        'getent hosts jira.example.org   # run it where the service runs',
        'doctor -d prod --only integrations/reachable',
      ],
    },
    {
      situation: 'a line that holds the address of the call, with keys in it',
      sources: seen(
        [
          record(
            'a.B : GET "https://jira.example.org/rest/x?key=s3cret": java.net.UnknownHostException: jira.example.org',
            { at: fresh },
          ),
        ],
        false,
      ),
      status: 'problem',
      severity: 'error',
      says: ['https://jira.example.org/rest/x'],
      silentOn: [/s3cret/],
    },
    {
      situation: 'an old exception of a host that still does not resolve',
      sources: seen([unknown('jira.example.org', old)], false),
      status: 'problem',
      severity: 'error',
    },
    {
      situation: 'resolves here, not where the service runs',
      sources: seen([unknown('jira.example.org', old)], true, false),
      status: 'problem',
      severity: 'error',
      says: ['this name resolves on this machine and does not resolve where'],
    },
    {
      situation: 'resolves there, not here',
      sources: seen([unknown('jira.cluster.local', old)], false, true),
      status: 'ok',
    },
    {
      situation: 'seen just now, resolves again',
      sources: seen([unknown('jira.example.org', fresh)], true),
      status: 'problem',
      severity: 'error',
    },
    {
      situation: 'old, does not resolve on this machine, and there cannot be asked',
      sources: seen([unknown('jira.example.org', old)], false, null),
      status: 'problem',
      severity: 'warning',
      says: ['could not be looked up where the service runs'],
    },
    {
      situation: 'old, does not resolve on this machine, and there it may not be asked',
      sources: seen(
        [unknown('jira.example.org', old)],
        false,
        new AdminError('FORBIDDEN', 'user ci may not create pods/exec'),
      ),
      status: 'problem',
      severity: 'warning',
      says: ['could not be looked up where the service runs: user ci may not create pods/exec'],
    },
    {
      situation: 'records without times of a host that resolves',
      sources: seen([unknown('jira.example.org', null)], true),
      status: 'ok',
    },
    {
      situation: 'several hosts',
      sources: seen([unknown('a.example.org', fresh), unknown('b.example.org', fresh)], false),
      status: 'problem',
      severity: 'error',
      says: ['a.example.org: java', 'b.example.org: java'],
    },
    { situation: 'there is no log', sources: { logs: unreachable('logs') }, status: 'unknown', code: 'UNAVAILABLE' },
  ],
}

const level = (value: string | undefined): Parts => ({
  service: fakeService({ environment: settings({ LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION: value }) }),
})

export const integrationsDebugLoggingTable: CheckTable = {
  check: integrationsDebugLogging,
  cases: [
    { situation: 'nothing is set', status: 'ok', says: ['LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION is not set'] },
    { situation: 'it is at warn', sources: level('WARN'), status: 'ok' },
    {
      situation: 'it is left at debug',
      sources: level('debug'),
      status: 'problem',
      severity: 'warning',
      says: [
        'is still debug',
        'grep LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION /etc/testops/testops.env',
        'set-env -d prod --integration-debug off',
      ],
    },
    {
      situation: 'it is left at debug by a whole Secret of settings',
      sources: {
        service: fakeService({
          environment: settings({ LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION: new Secret('debug') }),
        }),
      },
      status: 'problem',
      severity: 'warning',
      says: ['is still debug'],
    },
    {
      situation: 'a whole Secret of settings may not be read',
      sources: {
        service: fakeService({
          environment: new PartialSettings([], new AdminError('FORBIDDEN', 'user tester may not get secrets', [])),
        }),
      },
      status: 'unknown',
      code: 'FORBIDDEN',
      says: ['user tester may not get secrets'],
    },
    { situation: 'it is left at TRACE', sources: level('TRACE'), status: 'problem', severity: 'warning' },
    {
      situation: 'the vendor has another package',
      sources: {
        service: fakeService({ environment: settings({ LOGGING_LEVEL_IO_QAMETA_ALLURE_INTEGRATION: 'DEBUG' }) }),
      },
      status: 'problem',
      severity: 'warning',
      says: ['grep LOGGING_LEVEL_IO_QAMETA_ALLURE_INTEGRATION'],
    },
    {
      situation: 'the platform cannot be asked',
      sources: { service: unreachable('service') },
      status: 'unknown',
      because: 'service/running',
    },
  ],
}
