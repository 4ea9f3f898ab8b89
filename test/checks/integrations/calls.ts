import { integrationsAnswers } from '../../../src/checks/integrations/answers.ts'
import { integrationsCredentials } from '../../../src/checks/integrations/credentials.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { LogRecord } from '../../../src/core/sources.ts'
import { ago, fakeLogs, fakeService, record, running, settings, unreachable } from '../../fakes/index.ts'
import type { CheckTable, Parts } from '../table.ts'

const fresh = ago(2 * 60_000)
const old = ago(3_600_000)
const before = ago(5 * 3_600_000)
const debug = 'LOGGING_LEVEL_VENDOR_PACKAGE_INTEGRATION'

/** A line of OkHttp's logging interceptor, as the service writes it. The fake service was started two hours ago. */
function line(text: string, at: Date | null = fresh, thread = 'scheduling-1'): LogRecord {
  return record(`2026-11-21 02:00:00.000 DEBUG 812 --- [   ${thread}] i.q.a.i.HttpLoggingInterceptor : ${text}`, {
    at,
    level: 'DEBUG',
  })
}

function logged(...records: LogRecord[]): Parts {
  return {
    logs: fakeLogs({ recent: { complete: true, records } }),
    service: fakeService({ environment: settings({ [debug]: 'debug', TRACKER_TOKEN: new Secret('s3cret-value') }) }),
  }
}

const refused = (at = fresh, url = 'https://tracker.example.org/rest/myself'): LogRecord =>
  line(`<-- 401 Unauthorized ${url} (12ms, 0-byte body)`, at)
const accepted = (at = fresh, url = 'https://tracker.example.org/rest/myself'): LogRecord =>
  line(`<-- 200 OK ${url} (12ms, 120-byte body)`, at)

export const integrationsCredentialsTable: CheckTable = {
  check: integrationsCredentials,
  cases: [
    { situation: 'the log tells of none', status: 'ok', says: ['no 401 or 403 answer in 1 record of '] },
    {
      situation: 'an external system refuses',
      sources: logged(refused(old), refused(), refused()),
      status: 'problem',
      severity: 'error',
      says: [
        'tracker.example.org: HTTP 401: wrong credentials; 3 times, first 20',
        "grep -F '<-- 401' /var/log/testops/testops.log | tail -1",
        'check-integration -d prod --url https://tracker.example.org/rest/myself --user \\"$NAME\\" --password-from @-',
        'without spaces before or after them',
      ],
    },
    {
      situation: 'it answers over HTTP/2, without words, and its query and a secret are in the line',
      sources: logged(line('<-- 403 https://bob:pw@tracker.example.org:8443/rest?token=abc (9ms) s3cret-value')),
      status: 'problem',
      severity: 'error',
      says: [
        'tracker.example.org:8443: HTTP 403: the user has no permission for this',
        '--url https://tracker.example.org:8443/rest ',
      ],
      silentOn: ['abc', 's3cret', 'bob:pw'],
    },
    {
      situation: 'the same address answers well since',
      sources: logged(refused(), accepted()),
      status: 'ok',
      says: ['every refused call was followed by one that the external system accepted'],
    },
    {
      situation: 'another integration with the same system is fine',
      sources: logged(refused(), accepted(fresh, 'https://tracker.example.org/rest/issue')),
      status: 'problem',
      severity: 'error',
    },
    {
      situation: 'an hour ago, and nothing since',
      sources: logged(refused(old)),
      status: 'problem',
      severity: 'warning',
    },
    {
      situation: 'an hour ago, and other calls to the system are fine since',
      sources: logged(refused(old), accepted(fresh, 'https://tracker.example.org/rest/issue')),
      status: 'ok',
    },
    {
      situation: 'before the last start, long ago',
      sources: logged(refused(before)),
      status: 'ok',
      says: ['or by a restart of the service'],
    },
    {
      situation: 'just now, and the service was started anew since',
      sources: {
        ...logged(refused()),
        service: fakeService({
          status: running({ instances: [{ name: 'a', host: 'a', pid: 1, startedAt: ago(30_000) }] }),
        }),
      },
      status: 'problem',
      severity: 'warning',
    },
    {
      situation: 'records without times',
      sources: logged(line('<-- 401 https://a.example.org/ (1ms)', null)),
      status: 'problem',
      severity: 'warning',
      says: ['; once'],
    },
    {
      situation: 'what the service itself answers is nothing of that kind',
      sources: logged(line('Completed 401 UNAUTHORIZED'), line('--> GET https://a.example.org/')),
      status: 'ok',
    },
    {
      situation: 'the platform cannot be asked',
      sources: { ...logged(refused()), service: unreachable('service') },
      status: 'problem',
      severity: 'error',
    },
    { situation: 'there is no log', sources: { logs: unreachable('logs') }, status: 'unknown', code: 'UNAVAILABLE' },
  ],
}

const failed = '<-- HTTP FAILED: java.net.SocketTimeoutException: timeout'

export const integrationsAnswersTable: CheckTable = {
  check: integrationsAnswers,
  cases: [
    {
      situation: 'the log tells of none',
      status: 'ok',
      says: ['neither `HTTP FAILED` nor `400 bad request` in 1 record of '],
    },
    {
      situation: 'an external system does not understand the call',
      sources: logged(line('<-- 400 Bad Request https://tracker.example.org/rest/myself?x=1 (7ms, 31-byte body)')),
      status: 'problem',
      severity: 'error',
      says: [
        'tracker.example.org: HTTP 400 (bad request); once, at 20',
        "grep -F '<-- 400' ",
        'check-integration -d prod --url https://tracker.example.org/rest/myself',
      ],
      silentOn: ['set-env', 'x=1'],
    },
    {
      situation: 'the same is told twice, by the interceptor and by who called',
      sources: logged(
        line('<-- 400 Bad Request https://tracker.example.org/rest (7ms)'),
        record('ERROR 812 --- [a] b : tracker: 400 Bad Request from GET https://tracker.example.org/rest', {
          at: fresh,
        }),
      ),
      status: 'problem',
      severity: 'error',
      says: ['; once'],
    },
    {
      situation: 'debug output is off',
      sources: {
        logs: fakeLogs({
          recent: { complete: true, records: [record('org.x.BadRequest: 400 Bad Request: "{}"', { at: fresh })] },
        }),
        service: fakeService(),
      },
      status: 'problem',
      severity: 'warning',
      says: [
        'a system that the log does not name: HTTP 400 (bad request)',
        "grep -F '400 Bad Request'",
        'set-env -d prod --integration-debug on',
      ],
    },
    {
      situation: 'no answer comes: the call before it on its thread says whose',
      sources: logged(
        line('--> GET https://a.example.org/rest'),
        line('--> GET https://b.example.org/rest', fresh, 'scheduling-2'),
        line(failed),
        line('<-- 200 OK https://b.example.org/rest (4ms)', fresh, 'scheduling-2'),
      ),
      status: 'problem',
      severity: 'error',
      says: [
        'a.example.org: HTTP FAILED: java.net.SocketTimeoutException: timeout',
        '--url https://a.example.org/rest"',
      ],
      silentOn: ['b.example.org'],
    },
    {
      situation: 'no answer comes: the exception says whose',
      sources: logged(
        line('<-- HTTP FAILED: java.net.ConnectException: Failed to connect to jira.example.org/10.0.0.7:443'),
      ),
      status: 'problem',
      severity: 'error',
      says: ['jira.example.org: HTTP FAILED', '--url https://jira.example.org"'],
    },
    {
      situation: 'no answer comes: OkHttp 5 names the address',
      sources: logged(line(`${failed}. https://jira.example.org/rest (10002ms)`)),
      status: 'problem',
      severity: 'error',
      says: ['jira.example.org: HTTP FAILED'],
    },
    {
      situation: 'a host has no address, which another check tells',
      sources: logged(line('<-- HTTP FAILED: java.net.UnknownHostException: jira')),
      status: 'ok',
    },
    {
      situation: 'the service gave the call up by itself',
      sources: logged(line('<-- HTTP FAILED: java.io.IOException: Canceled')),
      status: 'ok',
    },
    {
      situation: 'answered again',
      sources: logged(
        line('--> GET https://a.example.org/rest'),
        line(failed),
        line('<-- 200 OK https://a.example.org/rest (4ms)'),
      ),
      status: 'ok',
      says: ['every failed call was followed by a successful one'],
    },
    { situation: 'there is no log', sources: { logs: unreachable('logs') }, status: 'unknown', code: 'UNAVAILABLE' },
  ],
}
