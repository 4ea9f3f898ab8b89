import { apiLatency } from '../../../src/checks/api/latency.ts'
import { apiReachable } from '../../../src/checks/api/reachable.ts'
import { apiTokenLifetime } from '../../../src/checks/api/token-lifetime.ts'
import { apiToken } from '../../../src/checks/api/token.ts'
import { AdminError } from '../../../src/core/error.ts'
import { fakeApi, fakeService, settings, unreachable } from '../../fakes/index.ts'
import type { Case, CheckTable, Parts } from '../table.ts'

const noToken = new AdminError('NOT_CONFIGURED', 'no `apiToken` is configured')
const refused = new AdminError('UNAUTHENTICATED', 'https://testops.example.org refused the API token (401)')
const unknown = {
  isService: false,
  shown: 'POST https://testops.example.org/api/uaa/oauth/token does not answer as the exchange does',
}
const down: Case = {
  situation: 'the API is down',
  sources: { api: unreachable('api') },
  status: 'unknown',
  because: 'api/reachable',
}

export const apiReachableTable: CheckTable = {
  check: apiReachable,
  cases: [
    { situation: 'the API answers', status: 'ok', says: ['https://testops.example.org answers UP after 12 ms'] },
    {
      situation: 'the service is not well',
      sources: { api: fakeApi({ health: { httpStatus: 503, status: 'DOWN', durationMs: 5 } }) },
      status: 'problem',
      severity: 'error',
      says: ['HTTP 503, status DOWN', 'curl -i https://testops.example.org/api/management/health'],
    },
    {
      situation: 'something else answers at its address',
      sources: { api: fakeApi({ health: { httpStatus: 200, status: null, durationMs: 5 }, recognized: unknown }) },
      status: 'problem',
      severity: 'error',
      says: [
        'answers, but does not look like the service: HTTP 200, without a health status',
        'does not answer as the exchange does',
        'Correct the address (`url` in',
      ],
    },
    {
      situation: 'the address of a page is taken for its own',
      sources: {
        api: fakeApi({
          target: 'https://testops.example.org/project/1',
          health: { httpStatus: 404, status: null, durationMs: 5 },
          recognized: unknown,
        }),
      },
      status: 'problem',
      severity: 'error',
      says: ['If the address of the service does not include /project/1, use https://testops.example.org.'],
    },
    ...[200, 302, 401, 403, 404].map((httpStatus) => ({
      situation: `a proxy guards its health with ${httpStatus}, and nothing else`,
      sources: { api: fakeApi({ health: { httpStatus, status: null, durationMs: 5 } }) },
      status: 'ok' as const,
      says: [
        'https://testops.example.org answers: POST /api/uaa/oauth/token exchanges the API token; ' +
          `the service's health cannot be checked from this machine (HTTP ${httpStatus}, without`,
      ],
    })),
    {
      situation: 'its health is not shown, and it takes no more calls',
      sources: {
        api: fakeApi({
          health: { httpStatus: 403, status: null, durationMs: 5 },
          recognized: new AdminError('EXHAUSTED', 'takes no more calls'),
        }),
      },
      status: 'unknown',
      code: 'EXHAUSTED',
    },
    {
      situation: 'a proxy that wants another sign-in answers at its address',
      sources: { api: fakeApi({ health: { httpStatus: 401, status: null, durationMs: 5 }, recognized: unknown }) },
      status: 'problem',
      severity: 'error',
      says: ['answers, but does not look like the service: HTTP 401', 'Correct the address'],
    },
    {
      situation: 'it fails without a word',
      sources: { api: fakeApi({ health: { httpStatus: 500, status: null, durationMs: 5 } }) },
      status: 'problem',
      severity: 'error',
      says: ['is unhealthy: HTTP 500', 'journalctl -u testops'],
      silentOn: ['Correct the address'],
    },
    {
      situation: 'nothing answers',
      sources: { api: unreachable('api') },
      status: 'problem',
      severity: 'error',
      says: ['refused the connection'],
    },
    {
      situation: 'nothing answers, since the database is down',
      sources: { api: unreachable('api'), database: unreachable('database') },
      status: 'problem',
      severity: 'error',
      because: 'database/reachable',
    },
  ],
}

export const apiTokenTable: CheckTable = {
  check: apiToken,
  cases: [
    { situation: 'the token is accepted', status: 'ok' },
    {
      situation: 'the token is refused',
      sources: { api: fakeApi({ accessToken: refused }) },
      status: 'problem',
      severity: 'error',
      says: ['refused the API token', 'grant_type=apitoken', 'printf %s', 'token=<-'],
    },
    {
      situation: 'the Bearer token is refused',
      sources: { api: fakeApi({ currentUser: refused }) },
      status: 'problem',
      severity: 'error',
      says: ['| curl -i -K - https://testops.example.org/api/uaa/me', 'but then rejects that Bearer token'],
      silentOn: ['Create a new API token'],
    },
    {
      situation: 'no token is configured',
      sources: { api: fakeApi({ accessToken: noToken }) },
      status: 'skipped',
      says: ['no `apiToken` is configured'],
    },
    {
      situation: 'the service fails at it',
      sources: { api: fakeApi({ accessToken: new AdminError('UNEXPECTED_ANSWER', 'HTTP 500') }) },
      status: 'unknown',
      code: 'UNEXPECTED_ANSWER',
    },
    down,
  ],
}

const lifetime = (seconds: number, set: string | undefined): Parts => ({
  api: fakeApi({
    accessToken: { issuedAt: 1_000_000, expiresAt: 1_000_000 + seconds, expiresInSeconds: 1, answeredAt: 1_000_000 },
  }),
  service: fakeService({ environment: settings({ VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: set }) }),
})

/** A token that shows its end alone, so many seconds after the answer that brought it. */
const dated = (seconds: number): Parts => ({
  api: fakeApi({
    accessToken: { issuedAt: null, expiresAt: 1_000_000 + seconds, expiresInSeconds: null, answeredAt: 1_000_000 },
  }),
})

export const apiTokenLifetimeTable: CheckTable = {
  check: apiTokenLifetime,
  cases: [
    { situation: 'an hour, as by default', status: 'ok', says: ['3600 s, as set'] },
    { situation: 'sixteen hours, as set', sources: lifetime(57_600, '57600'), status: 'ok' },
    {
      situation: 'an hour, and sixteen are set',
      sources: lifetime(3600, '57600'),
      status: 'problem',
      severity: 'warning',
      says: [
        'Bearer tokens live for 3600 s, but the settings say 57600 s',
        'the access_token lives for 3600 s (exp - iat in the second part of the token)',
        'grep VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS /etc/testops/testops.env',
        'VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS=57600',
        'If 57600 s is right, restart the service',
      ],
    },
    {
      situation: 'sixteen hours, and nothing is set',
      sources: lifetime(57_600, undefined),
      status: 'problem',
      severity: 'warning',
      says: ['is not set (default: 3600 s)'],
    },
    {
      situation: 'the setting is no number',
      sources: lifetime(3600, '1h'),
      status: 'problem',
      severity: 'warning',
      says: ['=1h is not a whole number of seconds above 0', 'set-env -d prod --token-lifetime 3600'],
    },
    {
      situation: 'the token says nothing',
      sources: {
        api: fakeApi({
          accessToken: { issuedAt: null, expiresAt: null, expiresInSeconds: null, answeredAt: 1_000_000 },
        }),
      },
      status: 'skipped',
    },
    { situation: 'its end alone, as set', sources: dated(3620), status: 'ok', says: ['as set'] },
    {
      situation: 'its end alone, and something else is set',
      sources: dated(7200),
      status: 'problem',
      severity: 'warning',
      says: [
        'Bearer tokens live for 7200 s, but the settings say 3600 s',
        'lives for 7200 s (the exp claim in the second part of the token, minus the Date header of the response)',
      ],
    },
    { situation: 'no token is configured', sources: { api: fakeApi({ accessToken: noToken }) }, status: 'skipped' },
    down,
  ],
}

export const apiLatencyTable: CheckTable = {
  check: apiLatency,
  cases: [
    {
      situation: 'it answers at once',
      status: 'ok',
      says: ['a simple API call takes 10 ms (median of 3 calls, 9 ms to 11 ms)'],
    },
    {
      situation: 'one slow answer among quick ones',
      sources: { api: fakeApi({ latencies: [20, 4000, 30] }) },
      status: 'ok',
    },
    {
      situation: 'a page is all that answers',
      sources: { api: fakeApi({ latencies: [] }) },
      status: 'skipped',
      says: ['GET https://testops.example.org/api/management/health'],
    },
    {
      situation: 'it answers late',
      sources: { api: fakeApi({ latencies: [1500, 1600, 1700] }) },
      status: 'problem',
      severity: 'warning',
      says: [
        'https://testops.example.org is slow: a simple API call takes 1.6 s',
        '1.500 1.600 1.700',
        'psql -h db.example.org -p 5432 -U testops -d testops -c',
      ],
    },
    {
      situation: 'it answers late, and nothing is known of its database',
      sources: {
        api: fakeApi({ latencies: [1500] }),
        database: new AdminError('NOT_CONFIGURED', 'no database is configured'),
      },
      status: 'problem',
      severity: 'warning',
      silentOn: ['psql'],
    },
    down,
  ],
}
