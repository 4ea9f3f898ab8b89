import { apiProxy } from '../../../src/checks/api/proxy.ts'
import { apiSystemLogin } from '../../../src/checks/api/system-login.ts'
import { apiTokenUse } from '../../../src/checks/api/token-use.ts'
import { AdminError } from '../../../src/core/error.ts'
import type { LoggedRequest, ProxySettings } from '../../../src/core/sources.ts'
import { ago, fakeAccessLog, fakeService, logged, request, unreachable } from '../../fakes/index.ts'
import type { Case, CheckTable, Parts } from '../table.ts'

const minute = 60_000
const hour = 60 * minute

const log = (...requests: readonly (LoggedRequest | readonly LoggedRequest[])[]): Parts => ({
  accessLog: fakeAccessLog({ recent: logged(requests.flat()) }),
})
/** Of a log of which older parts were not read. */
const tail = (...requests: readonly LoggedRequest[]): Parts => ({
  accessLog: fakeAccessLog({ recent: logged(requests, { complete: false }) }),
})
const shortTail = 'the last 5 h, its newest 4 MB'
/** So many alike, a second apart, the last a minute ago. */
const times = (count: number, of: Partial<LoggedRequest>, apartMs = 1000): LoggedRequest[] =>
  Array.from({ length: count }, (_, index) => request({ at: ago(minute + (count - 1 - index) * apartMs), ...of }))
const exchange: Partial<LoggedRequest> = { method: 'POST', path: '/api/uaa/oauth/token', scheme: null }
const plain: Partial<LoggedRequest> = { scheme: null }
const itself: Partial<LoggedRequest> = { scheme: 'api-token', agent: 'mcp-server/1.2.0', client: '10.0.0.9' }

const notConfigured = new AdminError('NOT_CONFIGURED', 'no access log is configured for `prod`: set `accessLog.file`')
const ingress = (of: Partial<ProxySettings>): ProxySettings => ({
  name: 'Ingress `testops`',
  maxBodyBytes: null,
  readTimeoutMs: null,
  evidence: ['kubectl get ingress testops', 'nginx.ingress.kubernetes.io/proxy-body-size: 1m'],
  change: { maxBody: 'kubectl annotate ingress testops x=100m', readTimeout: 'kubectl annotate ingress testops y=300' },
  ...of,
})

const without: readonly Case[] = [
  {
    situation: 'no access log is configured',
    sources: { accessLog: notConfigured },
    status: 'skipped',
    says: ['set `accessLog.file`'],
  },
  {
    situation: 'an empty log',
    sources: log(),
    status: 'skipped',
    says: ['/var/log/nginx/access.log has no requests'],
  },
  {
    situation: 'a log of another format',
    sources: { accessLog: fakeAccessLog({ recent: logged([], { unread: 12 }) }) },
    status: 'skipped',
    says: ['has no line in a known format (common, combined or JSON)'],
  },
  {
    situation: 'a log that ended two days ago',
    sources: log(times(40, { ...itself, at: ago(48 * hour) }), times(5, { status: 413, at: ago(48 * hour) })),
    status: 'skipped',
    says: [/has no requests from the last 24 h: the newest request is from 20\d\d-/],
  },
]
const missing: Case = {
  situation: 'the log is not there',
  sources: { accessLog: unreachable('accessLog') },
  status: 'unknown',
  code: 'UNAVAILABLE',
  says: ['ls -l /var/log/nginx/access.log'],
}

export const apiTokenUseTable: CheckTable = {
  check: apiTokenUse,
  cases: [
    {
      situation: 'Bearer tokens',
      status: 'ok',
      says: [
        '20 calls with a Bearer token, 0 with the API token itself, in /var/log/nginx/access.log (the last 1 ' +
          'min, the whole log)',
      ],
    },
    {
      situation: 'Bearer tokens, in a log that is busy',
      sources: tail(request({ at: ago(5 * hour) }), request()),
      status: 'ok',
      says: [shortTail],
      silentOn: ['24 h'],
    },
    {
      situation: 'Bearer tokens, in a log that goes back further',
      sources: tail(request({ at: ago(25 * hour) }), request()),
      status: 'ok',
      says: ['(the last 24 h)'],
      silentOn: ['4 MB'],
    },
    {
      situation: 'Bearer tokens, at times that cannot be read',
      sources: tail(request({ at: null })),
      status: 'ok',
      says: ['(its newest 4 MB, which has no readable times)'],
      silentOn: ['24 h'],
    },
    {
      situation: 'a program sends the API token itself',
      sources: log(request(), times(30, itself), request()),
      status: 'problem',
      severity: 'warning',
      says: [
        'mcp-server/1.2.0 at 10.0.0.9 sends the API token itself instead of a Bearer token obtained with it: 30 calls',
        / 30 calls, first 20\S+ \S+Z, last /,
        'in the last 1 min, the whole log: GET /api/project 200 (30)',
        `tail -c 4000000 /var/log/nginx/access.log | grep -cE '[\\" ]api-token[\\" ]'`,
        'printf %s',
        'https://testops.example.org/api/uaa/oauth/token',
        'by default after 1 h',
        'testops-admin token -d prod   # prints a Bearer token for a script',
      ],
      silentOn: ['allurectl'],
    },
    {
      situation: 'a program sends the API token itself, and the API is not known',
      sources: {
        ...log(times(30, itself)),
        api: new AdminError('NOT_CONFIGURED', 'no address of the API is configured'),
      },
      status: 'problem',
      severity: 'warning',
      silentOn: ['printf'],
    },
    {
      situation: 'somebody tried it a few times',
      sources: log(times(9, itself), request()),
      status: 'ok',
      says: ['1 call with a Bearer token, 9 with the API token itself'],
    },
    {
      situation: 'it was done two days ago',
      sources: log(times(30, { ...itself, at: ago(48 * hour) }), request()),
      status: 'ok',
    },
    {
      situation: 'a script exchanges the token for each call',
      sources: log(
        times(120, {}).flatMap(({ at }) => [
          request({ ...exchange, at, agent: 'curl/8.5.0' }),
          request({ at, agent: 'curl/8.5.0' }),
        ]),
      ),
      status: 'problem',
      severity: 'warning',
      says: [
        new RegExp(
          String.raw`curl\/8\.5\.0 at 10\.0\.0\.5 exchanges the API token again and again: ` +
            String.raw`120 exchanges, .*; apart from these, 10\.0\.0\.5 made 120 calls`,
        ),
        'grep -cE /api/uaa/oauth/token',
      ],
    },
    {
      situation: 'a script does so, and the log does not record how calls sign in',
      sources: log(times(120, exchange), times(100, plain)),
      status: 'problem',
      severity: 'warning',
      says: ['apart from these, 10.0.0.5 made 100 calls'],
    },
    {
      situation: 'jobs that exchange it once each, and make many calls',
      sources: log(times(120, exchange), times(600, {})),
      status: 'ok',
    },
    {
      situation: 'jobs whose exchange and whose calls are made by different programs',
      sources: log(times(120, { ...exchange, agent: 'curl/8.5.0' }), times(600, {})),
      status: 'ok',
    },
    {
      situation: 'an exchange for each call, a few times an hour',
      sources: log(times(120, exchange, 2 * minute), times(120, {}, 2 * minute)),
      status: 'ok',
    },
    {
      situation: 'exchanges that are refused',
      sources: log(times(120, { ...exchange, status: 401 }), request()),
      status: 'ok',
    },
    {
      situation: 'the log does not record how calls sign in',
      sources: log(request(exchange), times(30, plain)),
      status: 'skipped',
      says: ['does not record the scheme of the Authorization header', 'testops-admin explain api/token-use'],
      silentOn: ['without an exchange'],
    },
    {
      situation: 'nor does it, and a program calls for hours without an exchange',
      sources: log(
        times(30, { ...plain, client: '10.0.0.9', agent: 'mcp-server/1.2.0' }, 5 * minute),
        request(exchange),
        times(30, plain),
      ),
      status: 'skipped',
      says: ['the log shows no token exchange by mcp-server/1.2.0 at 10.0.0.9 (30 calls in 2 h 25 min)'],
      silentOn: ['allurectl'],
    },
    {
      situation: 'nor does it, and a browser, a monitor and somebody who is refused call for hours',
      sources: log(
        times(30, { ...plain, agent: 'Mozilla/5.0' }, 5 * minute),
        times(30, { ...plain, path: '/api/management/health' }, 5 * minute),
        times(30, { ...plain, status: 401 }, 5 * minute),
      ),
      status: 'skipped',
      silentOn: ['without an exchange'],
    },
    ...without,
    missing,
  ],
}

const page: Partial<LoggedRequest> = { path: '/login/system', agent: 'Mozilla/5.0', scheme: null }

export const apiSystemLoginTable: CheckTable = {
  check: apiSystemLogin,
  cases: [
    {
      situation: 'browsers get the page',
      status: 'ok',
      says: [
        'the proxy lets https://testops.example.org/login/system through: 1 request at ',
        'the built-in administrator signs in there',
      ],
    },
    { situation: 'a browser has it still', sources: log(request({ ...page, status: 304 })), status: 'ok' },
    { situation: 'below a path', sources: log(request({ ...page, path: '/testops/login/system' })), status: 'ok' },
    {
      situation: 'some get it, and others are sent to the main page',
      sources: log(request(page), request({ ...page, status: 302 })),
      status: 'ok',
    },
    {
      situation: 'browsers are sent elsewhere',
      sources: log(request({ ...page, path: '/', status: 302 }), times(3, { ...page, status: 302 })),
      status: 'problem',
      severity: 'warning',
      says: [
        new RegExp(
          String.raw`the proxy does not let https:\/\/testops\.example\.org\/login\/system through: 3 requests, ` +
            String.raw`first .*, last [^,]*, all redirected or refused \(302, Mozilla\/5\.0 at 10\.0\.0\.5\)`,
        ),
        'in the last 1 min, the whole log: GET /login/system 302 (3)',
        'curl -sI https://testops.example.org/login/system',
        'pass /login/system and /api/login/system to the service',
      ],
    },
    {
      situation: 'the page is forbidden',
      sources: log(request({ ...page, status: 403 })),
      status: 'problem',
      severity: 'warning',
      says: ['1 request at '],
    },
    {
      situation: 'the page is forbidden, and the API is down',
      sources: { ...log(request({ ...page, status: 403 })), api: unreachable('api') },
      status: 'problem',
      severity: 'warning',
      says: ['the proxy does not let /login/system of the web interface through'],
      silentOn: ['curl'],
    },
    {
      situation: 'it was asked for while the service was away',
      sources: log(request({ ...page, status: 502 })),
      status: 'skipped',
      says: ['nobody opened that page'],
    },
    {
      situation: 'nobody has asked for it',
      sources: log(request(), request({ ...page, method: 'POST', path: '/api/login/system', status: 401 })),
      status: 'skipped',
      says: [
        'the built-in administrator signs in at https://testops.example.org/login/system',
        'nobody opened that page in /var/log/nginx/access.log (the last 1 min, the whole log)',
      ],
    },
    {
      situation: 'nobody has asked for it, in a log that is busy',
      sources: tail(request({ at: ago(5 * hour) }), request()),
      status: 'skipped',
      says: [shortTail],
      silentOn: ['24 h'],
    },
    ...without,
    {
      situation: 'the log is not there',
      sources: { accessLog: unreachable('accessLog') },
      status: 'unknown',
      code: 'UNAVAILABLE',
    },
  ],
}

const large: Partial<LoggedRequest> = { method: 'POST', path: '/upload', status: 413 }
const late: Partial<LoggedRequest> = { path: '/api/tree', status: 504 }
const away: Partial<LoggedRequest> = { status: 502 }

export const apiProxyTable: CheckTable = {
  check: apiProxy,
  cases: [
    {
      situation: 'an Ingress lets only small and fast requests through',
      sources: {
        service: fakeService({ proxies: [ingress({ maxBodyBytes: 1_048_576, readTimeoutMs: 30_000 })] }),
        accessLog: notConfigured,
      },
      status: 'problem',
      severity: 'warning',
      says: [
        'Ingress `testops` rejects requests above 1 MB, but a result file may be up to 2 MB',
        'Ingress `testops` waits only 30 s for an answer; proxies usually wait 1 min',
        'proxy-body-size: 1m',
        'kubectl annotate ingress testops x=100m',
      ],
    },
    {
      situation: 'an Ingress lets only small requests through, and the log shows it',
      sources: {
        service: fakeService({ proxies: [ingress({ maxBodyBytes: 1_048_576 })] }),
        ...log(request(), request({ status: 413 })),
      },
      status: 'problem',
      severity: 'warning',
      says: [
        'Ingress `testops` rejects requests above 1 MB, but',
        'refused by the proxy as too large (413)',
        'kubectl annotate ingress testops x=100m',
      ],
      silentOn: ['annotate ingress testops y'],
    },
    {
      situation: 'an Ingress lets large requests through, and no log is configured',
      sources: {
        service: fakeService({
          proxies: [ingress({ maxBodyBytes: Number.POSITIVE_INFINITY, readTimeoutMs: 300_000 })],
        }),
        accessLog: notConfigured,
      },
      status: 'ok',
      says: ['lets requests of any size through, and waits 5 min for an answer'],
    },
    {
      situation: 'an Ingress leaves the size to its controller, and no log is configured',
      sources: {
        service: fakeService({ proxies: [ingress({ maxBodyBytes: 8_000_000 }), ingress({ readTimeoutMs: 300_000 })] }),
        accessLog: notConfigured,
      },
      status: 'skipped',
      says: ["sets no size limit for requests, so its controller's settings apply"],
    },
    {
      situation: 'an Ingress leaves the size to its controller, and the log shows that nothing is cut',
      sources: { service: fakeService({ proxies: [ingress({})] }) },
      status: 'ok',
      says: ['sets no size limit for requests', 'none of 22 requests'],
    },
    {
      situation: 'Ingresses may not be looked at, and the log shows nothing',
      sources: {
        service: fakeService({
          proxies: new AdminError('FORBIDDEN', 'user tester may not list ingresses in namespace `testops`', []),
        }),
      },
      status: 'unknown',
      says: ['may not list ingresses'],
    },
    {
      situation: 'Ingresses may not be looked at, and the log shows enough',
      sources: {
        service: fakeService({
          proxies: new AdminError('FORBIDDEN', 'user tester may not list ingresses in namespace `testops`', []),
        }),
        ...log(request(), request(large)),
      },
      status: 'problem',
      severity: 'warning',
      says: ['refused by the proxy as too large (413)'],
    },
    {
      situation: 'nothing is cut, where the platform cannot be asked',
      sources: { service: unreachable('service') },
      status: 'ok',
    },
    {
      situation: 'nothing is cut',
      status: 'ok',
      says: ['the proxy cut off none of 22 requests in /var/log/nginx/access.log (the last 1 min, the whole log)'],
    },
    {
      situation: 'nothing is cut, in a log that is busy',
      sources: tail(request({ at: ago(5 * hour) }), request()),
      status: 'ok',
      says: [`the proxy cut off none of 2 requests in /var/log/nginx/access.log (${shortTail})`],
    },
    {
      situation: 'a request is too large, in a log that is busy',
      sources: tail(request({ at: ago(5 * hour) }), request(large)),
      status: 'problem',
      severity: 'warning',
      says: [`in ${shortTail}: POST /upload 413 (1)`],
    },
    {
      situation: 'a request is too large',
      sources: log(request(), request(large), request()),
      status: 'problem',
      severity: 'warning',
      says: [
        new RegExp(
          String.raw`1 request at 20\S+ \S+Z: refused by the proxy as too large \(413\); ` +
            String.raw`last sender: allurectl\/2\.16\.0 at 10\.0\.0\.5`,
        ),
        `grep -cE '(\\"|\\":\\"?) ?413[ ,\\"}]'`,
        'in the last 1 min, the whole log: POST /upload 413 (1)',
        'client_max_body_size`, by default 1 MB',
        'sudo nginx -T | grep -nE client_max_body_size   # on the machine where the proxy runs',
        'Otherwise results can be missing after an upload',
      ],
      silentOn: ['proxy_read_timeout'],
    },
    {
      situation: 'requests are cut between others that are not',
      sources: log(times(3, {}).flatMap(({ at }) => [request({ ...late, at }), request({ at })])),
      status: 'problem',
      severity: 'warning',
      says: [
        '3 requests, first',
        'cut off by the proxy while the service was still working on them (504)',
        'proxy_read_timeout`, by default 60 s',
      ],
    },
    {
      situation: 'the same request is cut again and again, and nothing else is asked for',
      sources: log(times(5, late)),
      status: 'problem',
      severity: 'warning',
    },
    {
      situation: 'answers cannot be used, and uploads are too large',
      sources: log(
        times(3, {}).flatMap(({ at }) => [request({ ...away, at }), request({ at })]),
        times(2, large),
      ),
      status: 'problem',
      severity: 'warning',
      says: [
        'the proxy got no usable response from the service (502)',
        'proxy_buffer_size',
        'client_max_body_size|proxy_buffer_size',
      ],
    },
    {
      situation: 'two requests in a day took too long',
      sources: log(request(late), request(), request(late), request()),
      status: 'ok',
      says: ['the proxy cut off only 2 of 4 requests'],
    },
    {
      situation: 'the service was started again',
      sources: log(
        times(20, {}),
        times(40, away),
        request({ status: 503 }),
        request({ ...away, path: '/login/system' }),
        times(20, {}),
      ),
      status: 'ok',
      says: ['none of 40 requests'],
    },
    {
      situation: 'the service was away, while browsers were sent from http to https and others gave up',
      sources: log(
        request(),
        times(9, {}).flatMap(({ at }) => [
          request({ ...away, at }),
          request({ path: '/', status: 301, at }),
          request({ status: 499, at }),
        ]),
        request(),
      ),
      status: 'ok',
    },
    {
      situation: 'the service was away, while the proxy had pictures to show',
      sources: log(
        request(),
        times(9, {}).flatMap(({ at }) => [request({ ...away, at }), request({ path: '/logo.svg', at })]),
        request(),
      ),
      status: 'ok',
    },
    {
      situation: 'the service hung',
      sources: log(request(), times(3, late), times(3, { ...late, path: '/api/project' }), request()),
      status: 'ok',
    },
    {
      situation: 'a request was too large two days ago',
      sources: log(request({ ...large, at: ago(48 * hour) }), request()),
      status: 'ok',
    },
    ...without,
    missing,
  ],
}
