import { describe, expect, it, test } from 'vitest'
import { readAccessLog } from '../../src/logs/access-log.ts'

const combined = '10.0.0.5 - - [21/Nov/2026:03:04:05 +0100] "GET /api/project?page=0 HTTP/1.1" 200 512 "-" "curl/8.5.0"'

const first = (line: string): unknown => readAccessLog(line).requests[0]

const read = {
  at: new Date('2026-11-21T02:04:05Z'),
  client: '10.0.0.5',
  agent: 'curl/8.5.0',
  method: 'GET',
  path: '/api/project',
  status: 200,
  scheme: null,
}

describe('the formats of proxies', () => {
  const formats: readonly [string, string, object][] = [
    ['combined', combined, {}],
    ['common', combined.replace(/ "-" "curl.*/, ''), { agent: null }],
    [
      'a time zone behind Greenwich',
      combined.replace('03:04:05 +0100', '21:34:05 -0430'),
      { at: new Date('2026-11-22T02:04:05Z') },
    ],
    ['combined after the name of the virtual host', `testops.example.org:443 ${combined}`, {}],
    ['combined with an IPv6 address', combined.replace('10.0.0.5', '2001:db8::5'), { client: '2001:db8::5' }],
    ['combined with a user who signed in at the proxy', combined.replace('- - [', '- John Doe ['), {}],
    [
      "that of Kubernetes' nginx",
      `${combined} 1024 0.004 [prod-testops-8080] [] 10.42.0.7:8080 512 0.004 200 5f0c8f6bd1f3`,
      {},
    ],
    ['quotes in what the client says', combined.replace('curl/8.5.0', String.raw`curl/8.5.0 \"beta\" \x22`), {}],
    ['no agent', combined.replace('curl/8.5.0', '-'), { agent: null }],
    ['a scheme alone', `${combined} "Bearer"`, { scheme: 'bearer' }],
    ['the whole header', `${combined} "api-token 6a1c7f58-3f0e-4a52-9d6c-0c5f6a1f0b01"`, { scheme: 'api-token' }],
    [
      "Tomcat's header, which is not quoted",
      `${combined.replace(/ "-" "curl.*/, '')} Bearer eyJhbGciOiJI.e30.c2ln`,
      { agent: null, scheme: 'bearer' },
    ],
    ['an agent that only talks of tokens', combined.replace('curl/8.5.0', 'Bearer api-token'), { agent: 'Bearer' }],
    [
      'JSON of nginx',
      '{"time_iso8601":"2026-11-21T03:04:05+01:00","remote_addr":"10.0.0.5","request":"GET /api/project?page=0 ' +
        'HTTP/1.1","status":"200","http_user_agent":"curl/8.5.0","http_authorization":"api-token 6a1c7f58"}',
      { scheme: 'api-token' },
    ],
    [
      'JSON of Traefik',
      '{"ClientHost":"10.0.0.5","DownstreamStatus":200,"RequestMethod":"GET","RequestPath":"/api/project?page=0",' +
        '"time":"2026-11-21T02:04:05Z","request_User-Agent":"curl/8.5.0"}',
      {},
    ],
    [
      'JSON of Caddy',
      '{"ts":1795226645.5,"request":{"remote_ip":"10.0.0.5","method":"GET","uri":"/api/project?page=0",' +
        '"headers":{"User-Agent":["curl/8.5.0"]}},"status":200}',
      { at: new Date('2026-11-21T02:04:05.500Z'), agent: null },
    ],
  ]
  it.each(formats)('%s', (_format, line, different) => {
    expect(readAccessLog(line)).toEqual({ requests: [{ ...read, ...different }], unread: 0 })
  })
})

test('lines that tell of no request are counted', () => {
  const port = String.raw`10.0.0.9 - - [21/Nov/2026:03:04:05 +0100] "\x16\x03\x01" 400 157 "-" "-"`
  const silent = '10.0.0.9 - - [21/Nov/2026:03:04:05 +0100] "-" 408 0 "-" "-"'
  const { requests, unread } = readAccessLog(
    [combined, port, silent, '{"broken', '{"status":200}', 'nonsense', '', combined].join('\n'),
  )
  expect({ requests: requests.length, unread }).toEqual({ requests: 2, unread: 5 })
})

test('a time that cannot be placed is none', () => {
  expect(first(combined.replace('Nov', 'Nox'))).toMatchObject({ at: null })
  expect(first('{"time":"2026-11-21 03:04:05","method":"GET","path":"/","status":200}')).toMatchObject({
    at: null,
    client: 'an unknown address',
  })
})

test('nothing that may be a secret comes out of a log', () => {
  const secret = '6a1c7f58-3f0e-4a52-9d6c-0c5f6a1f0b01'
  const targets = [
    `/a?token=${secret}`,
    `/a;jsessionid=${secret}`,
    `/a/${secret}/b`,
    `http://user:${secret}@host/a?b=${secret}`,
    `/a#${secret}`,
  ]
  const lines = [
    ...targets.map((target) => combined.replace('/api/project?page=0', target)),
    combined.replace('curl/8.5.0', secret),
    combined.replace('curl/8.5.0', `x/1 ${secret}`).replace('"-"', `"https://h/?t=${secret}"`),
    `${combined} "Bearer ${secret}"`,
    combined.replace('- -', `- ${secret}`),
  ]
  const { requests, unread } = readAccessLog(lines.join('\n'))
  expect({ requests: requests.length, unread }).toEqual({ requests: lines.length, unread: 0 })
  expect(JSON.stringify(requests)).not.toContain(secret.slice(0, 8))
  expect(requests.map(({ path }) => path).slice(0, 5)).toEqual(['/a', '/a', '/a/…/b', '/a', '/a'])
})

test('what a client sends does not reach the terminal as it is', () => {
  const line = JSON.stringify({ method: 'GET', path: '/\u001b[2Ja', status: 404, remote_addr: '\u001b[31mx' })
  expect(first(line)).toMatchObject({ path: '/?[2Ja', client: '?[31mx' })
})

test('a line without end is read in no time', () => {
  const long = `10.0.0.5 ${'[ '.repeat(500_000)}`
  expect(readAccessLog(`${long}\n${combined} "${'x '.repeat(500_000)}`)).toMatchObject({ unread: 1 })
})
