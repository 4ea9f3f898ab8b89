import { serviceLogErrors } from '../../../src/checks/service/log-errors.ts'
import { AdminError } from '../../../src/core/error.ts'
import { Secret } from '../../../src/core/secret.ts'
import type { LogRecord } from '../../../src/core/sources.ts'
import { ago, fakeLogs, fakeService, record, settings, stopped, unreachable } from '../../fakes/index.ts'
import type { CheckTable, Parts } from '../table.ts'

const fresh = ago(60_000)
/** The fake service was started two hours ago. */
const [old, before] = [ago(3_600_000), ago(5 * 3_600_000)]

const pool = (at: Date | null): LogRecord =>
  record(
    'org.hibernate.SqlExceptionHelper : HikariPool-1 - Connection is not available, request timed out after ' +
      '30000ms (total=10, active=10)',
    { at, level: 'ERROR' },
  )
const heap = (at: Date): LogRecord =>
  record('Handler dispatch failed\njava.lang.OutOfMemoryError: Java heap space\n\tat a.B.c', { at, level: 'ERROR' })

function logged(...records: LogRecord[]): Parts {
  return {
    logs: fakeLogs({ recent: { complete: true, records } }),
    service: fakeService({ environment: settings({ SPRING_DATASOURCE_PASSWORD: new Secret('s3cret-value') }) }),
  }
}

const unread = [
  { name: 'testops-1', error: new AdminError('UNREACHABLE', 'no way to pod `testops-1`', ['crictl logs']) },
]

export const serviceLogErrorsTable: CheckTable = {
  check: serviceLogErrors,
  cases: [
    {
      situation: 'the log tells of none',
      status: 'ok',
      says: ['none of the faults that only this check looks for, in 1 record of'],
    },
    {
      situation: 'the log of one pod tells of none, and that of the other cannot be read',
      sources: { logs: fakeLogs({ recent: { complete: true, records: [record('Started App')], unread } }) },
      status: 'unknown',
      code: 'UNREACHABLE',
      says: [
        'cannot read the log of `testops-1`: no way to pod `testops-1`. The other logs show no fault of this kind',
        'crictl logs',
      ],
    },
    {
      situation: 'the log of one pod tells of it, and that of the other cannot be read',
      sources: { logs: fakeLogs({ recent: { complete: true, records: [pool(fresh)], unread } }) },
      status: 'problem',
      severity: 'error',
      says: ['no database connection is free', 'cannot read the log of `testops-1`: no way to pod `testops-1`'],
    },
    {
      situation: 'the pool has no connection',
      sources: logged(pool(old), pool(fresh)),
      status: 'problem',
      severity: 'error',
      says: [
        'no database connection is free: 2 times, first 20',
        "grep -F 'Connection is not available, request timed out after' /var/log/testops/testops.log | tail -1",
        'testops-admin explain pool-exhausted',
      ],
    },
    {
      situation: 'it had none an hour ago',
      sources: logged(pool(old)),
      status: 'problem',
      severity: 'warning',
      says: ['once, at 20'],
    },
    {
      situation: 'it had none before the last start',
      sources: logged(pool(before), record('Started App', { at: old })),
      status: 'ok',
      says: ['none of the faults that only this check looks for, in 1 record of'],
    },
    {
      situation: 'no memory left in a service that goes on, and more',
      sources: logged(heap(fresh), pool(fresh)),
      status: 'problem',
      severity: 'error',
      says: [
        'the JVM has no memory left: once',
        'grep -F java.lang.OutOfMemoryError',
        'explain service/crashes',
        'no database connection is free',
      ],
    },
    {
      situation: 'the broker refuses another property than durable',
      sources: logged(
        record(
          "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'q' in vhost '/': received the " +
            "value 'quorum' of type 'longstr' but current is none",
          { at: fresh },
        ),
      ),
      status: 'problem',
      severity: 'error',
      says: ['explain broker/queues-durable'],
    },
    {
      situation: 'what other checks tell of, and what whoever caused it is told',
      sources: logged(
        record(
          "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'q' in vhost '/': received 'true' but " +
            "current is 'false'",
          { at: fresh },
        ),
        record('java.net.UnknownHostException: jira', { at: fresh }),
        record('Request failed with status code 409', { at: fresh }),
        record('Bad credentials', { at: fresh }),
        record('Waiting for changelog lock....', { at: fresh }),
        record('<-- HTTP FAILED: java.net.ConnectException', { at: fresh }),
      ),
      status: 'ok',
    },
    {
      situation: 'a secret in the line',
      sources: logged(record('java.lang.OutOfMemoryError while reading s3cret-value, password=hunter2', { at: fresh })),
      status: 'problem',
      severity: 'error',
      silentOn: ['s3cret', 'hunter2'],
    },
    {
      situation: 'the service does not run',
      sources: { ...logged(pool(fresh)), service: fakeService({ status: stopped() }) },
      status: 'problem',
      severity: 'error',
    },
    {
      situation: 'records without times, on an unknown platform',
      sources: { ...logged(pool(null)), service: unreachable('service') },
      status: 'problem',
      severity: 'warning',
      says: ['free: once"'],
    },
    { situation: 'there is no log', sources: { logs: unreachable('logs') }, status: 'unknown', code: 'UNAVAILABLE' },
  ],
}
