import type { AccessLogSource, LoggedRequest } from '../../src/core/sources.ts'
import { fake } from './fake.ts'
import type { Answers } from './fake.ts'

/** A proxy's log that records how programs sign in and holds nothing unusual, unless told otherwise. */
export function fakeAccessLog(answers: Answers<AccessLogSource> = {}): AccessLogSource {
  return fake<AccessLogSource>(
    {
      target: '/var/log/nginx/access.log',
      recent: logged([
        request({ method: 'POST', path: '/api/uaa/oauth/token', scheme: null }),
        ...Array.from({ length: 20 }, () => request()),
        request({ path: '/login/system', agent: 'Mozilla/5.0', scheme: null }),
      ]),
    },
    ['recent'],
    answers,
  )
}

/** A complete log, with every line readable, unless told otherwise. */
export function logged(
  requests: readonly LoggedRequest[],
  of: { complete?: boolean; unread?: number } = {},
): Awaited<ReturnType<AccessLogSource['recent']>> {
  return { complete: true, unread: 0, ...of, requests }
}

/** A call by a program with a Bearer token, a minute ago, unless told otherwise. */
export function request(of: Partial<LoggedRequest> = {}): LoggedRequest {
  return {
    at: new Date(Date.now() - 60_000),
    client: '10.0.0.5',
    agent: 'allurectl/2.16.0',
    method: 'GET',
    path: '/api/project',
    status: 200,
    scheme: 'bearer',
    ...of,
  }
}
