import { describe, expect, it } from 'vitest'
import { apiReachable } from '../../src/checks/api/reachable.ts'
import { brokerReachable } from '../../src/checks/broker/reachable.ts'
import { databaseReachable } from '../../src/checks/database/reachable.ts'
import { checks } from '../../src/checks/index.ts'
import { serviceRunning } from '../../src/checks/service/running.ts'
import { sessionsReachable } from '../../src/checks/sessions/reachable.ts'
import type { Check, Remedy } from '../../src/core/check.ts'
import { AdminError } from '../../src/core/error.ts'
import type { ErrorCode, NetworkObstacle, Obstacle } from '../../src/core/error.ts'
import type { PlatformName } from '../../src/core/deployment.ts'
import { judged } from './table.ts'

interface Failed {
  check: Check
  code?: ErrorCode
  kind?: NetworkObstacle['kind']
  obstacle?: Obstacle
  host?: string
  platform?: PlatformName
  suggestions?: readonly string[]
}

async function remedyOf({
  check,
  code = 'UNREACHABLE',
  kind,
  host = 'far.example.org',
  platform,
  suggestions,
  ...failed
}: Failed): Promise<Remedy> {
  const obstacle = failed.obstacle ?? (kind ? { kind, host, port: 9999 } : null)
  const error = new AdminError(code, 'it could not be reached', suggestions ?? ['look --at far'], { obstacle })
  const report = await judged(check, {
    sources: { [check.guards!]: error },
    ...(platform && { deployment: { platform } }),
  })
  expect(report).toMatchObject({ status: 'problem', severity: 'error' })
  return report.remedy!
}

const servers = [databaseReachable, brokerReachable, sessionsReachable]
const guards = [...servers, apiReachable, serviceRunning]

it('every check that stands for a source says what is done about each reason', () => {
  expect(checks.filter(({ guards: source }) => source !== undefined).map(({ id }) => id)).toEqual(
    [databaseReachable, brokerReachable, sessionsReachable, serviceRunning, apiReachable].map(({ id }) => id),
  )
  expect(checks.filter(({ guards: source, unopened }) => (source === undefined) !== (unopened === undefined))).toEqual(
    [],
  )
})

const unbootable = (id: string): string[] =>
  id === 'broker/reachable' ? ['testops-admin explain broker/reachable   # if it does not start'] : []

describe('nothing listens', () => {
  it.each([
    [databaseReachable, 'PostgreSQL', "systemctl status 'postgresql*'", 'sudo systemctl start postgresql'],
    [brokerReachable, 'RabbitMQ', 'systemctl status rabbitmq-server', 'sudo systemctl start rabbitmq-server'],
    [sessionsReachable, 'Redis', "systemctl status 'redis*'", 'sudo systemctl start redis-server'],
  ])('%o is started on its own machine', async (check, name, status, start) => {
    const there = await remedyOf({ check, kind: 'refused' })
    expect(there.text).toContain(`Start ${name} on far.example.org`)
    expect(there.commands).toEqual([
      `${start}   # on far.example.org`,
      `${status}   # on far.example.org`,
      ...unbootable(check.id),
      `testops-admin doctor -d prod --only ${check.id}`,
      'systemctl restart testops',
    ])
    const here = await remedyOf({ check, kind: 'refused', host: '127.0.0.1' })
    expect(here.text).toContain(`Start ${name} on this machine`)
    expect(here.commands.slice(0, 2)).toEqual([start, status])
  })

  it.each(servers)('$id runs in a container of which systemd knows nothing', async (check) => {
    const { commands } = await remedyOf({ check, kind: 'refused', platform: 'kubernetes' })
    expect(commands).toEqual([
      "ss -ltnp 'sport = :9999'   # on far.example.org",
      ...unbootable(check.id),
      `testops-admin doctor -d prod --only ${check.id}`,
      'systemctl restart testops',
    ])
  })

  it('the service is looked at where its API is silent', async () => {
    expect(await remedyOf({ check: apiReachable, kind: 'refused' })).toEqual({
      text: expect.stringMatching(/^Check that the service is running/) as string,
      commands: [
        'systemctl status testops',
        'journalctl -u testops',
        'testops-admin doctor -d prod --only api/reachable',
      ],
    })
  })
})

/** What is no matter of a server that does not run: the text says what is, and nothing is started. */
const reasons: { what: string; failed: Omit<Failed, 'check'>; says: RegExp; of?: readonly Check[]; more?: string }[] = [
  {
    what: 'a name that does not resolve',
    failed: { kind: 'unresolved' },
    says: /^Correct the host name far\.example\.org .*or make it resolve/,
  },
  { what: 'no route', failed: { kind: 'unrouted' }, says: /cannot reach far\.example\.org: network, VPN or firewall/ },
  {
    what: 'a proxy of this machine',
    failed: { kind: 'proxy' },
    says: new RegExp(
      String.raw`^Correct the proxy far\.example\.org:9999 in the environment variables of this command\. ` +
        'Or list .* in `NO_PROXY`',
    ),
  },
  { what: 'TLS', failed: { kind: 'tls' }, says: /certificate authority .*ca: FILE/ },
  {
    what: 'a certificate for another name',
    failed: { obstacle: { kind: 'misnamed', host: 'far.example.org', port: 9999, names: ['near.example.org'] } },
    says: new RegExp(
      String.raw`^Use a name from the server's certificate in the address \(.+\), ` +
        String.raw`or get the server a certificate for far\.example\.org\.$`,
    ),
  },
  { what: 'a time-out', failed: { code: 'TIMED_OUT' }, says: /^The server timed out\./, more: ' --timeout 30' },
  {
    what: 'a wrong password',
    failed: { code: 'UNAUTHENTICATED' },
    says: /^Correct the user name or the password/,
    of: servers,
  },
  {
    what: 'a server that does not serve',
    failed: {},
    says: /is running, but is not ready/,
    of: servers,
    more: ' --wait',
  },
  {
    what: 'something else that answers',
    failed: { code: 'UNEXPECTED_ANSWER' },
    says: /correct the address/,
  },
  {
    what: 'a secret that is missing',
    failed: { code: 'SECRET_MISSING' },
    says: /^Correct the entry that the message names, in the configuration/,
  },
  { what: 'no slot', failed: { code: 'EXHAUSTED' }, says: /accepts no more connections/, of: servers },
]

describe.each(reasons)('$what', ({ failed, says, of = [...servers, apiReachable], more = '' }) => {
  it.each(of)('$id', async (check) => {
    const { text, commands } = await remedyOf({ check, ...failed })
    expect(text).toMatch(says)
    expect(text).not.toMatch(/\b[Ss]tart (PostgreSQL|RabbitMQ|Redis)/)
    expect(commands.join('\n')).not.toMatch(/systemctl (start|restart)/)
    expect(commands).toContain(`testops-admin doctor -d prod --only ${check.id}${more}`)
  })
})

it.each(servers)(
  '$id says that the login of the configuration, where that is refused, may not be the one of the service',
  async (check) => {
    const text = async (obstacle?: Obstacle): Promise<string> =>
      (await remedyOf({ check, code: 'UNAUTHENTICATED', ...(obstacle && { obstacle }) })).text
    const note =
      ' The refused login is the one in the configuration of testops-admin. The service may use another login, ' +
      'so this refusal may not explain other problems.'
    expect(await text({ kind: 'login' })).toBe(`${await text()}${note}`)
  },
)

it('asks for room where a full disk keeps a session from being taken in, and nothing of the address', async () => {
  const { text, commands } = await remedyOf({ check: databaseReachable, code: 'EXHAUSTED', obstacle: { kind: 'disk' } })
  expect(text).toBe("Free space on the server's data disk, or enlarge the disk. Never delete data files by hand.")
  expect(commands.at(-1)).toBe('testops-admin doctor -d prod --only database/reachable')
})

it('shows the names of a certificate, as its protocol begins', async () => {
  const obstacle: Obstacle = { kind: 'misnamed', host: '::1', port: 5432, names: [] }
  expect((await remedyOf({ check: databaseReachable, obstacle })).commands[0]).toBe(
    "openssl s_client -starttls postgres -connect '[::1]:5432' </dev/null | openssl x509 -noout -subject -ext " +
      'subjectAltName',
  )
})

it('names where the address and the credentials are kept', async () => {
  const text = async (check: Check): Promise<string> => (await remedyOf({ check, code: 'UNAUTHENTICATED' })).text
  expect(await text(databaseReachable)).toContain(
    '(`database` in the configuration or, if that is not set, SPRING_DATASOURCE_… in /etc/testops/testops.env)',
  )
  expect(await text(brokerReachable)).toContain(
    '(`broker` in the configuration or, if that is not set, SPRING_RABBITMQ_… in /etc/testops/testops.env)',
  )
  expect(await text(sessionsReachable)).toContain(
    '(`sessions` in the configuration or, if that is not set, SPRING_DATA_REDIS_… in /etc/testops/testops.env)',
  )
})

it.each([
  [databaseReachable, 'UNAVAILABLE', /^Correct the database's name .*restore the database from a backup/],
  [databaseReachable, 'FORBIDDEN', /let this user connect to the database/],
  [brokerReachable, 'FORBIDDEN', /^Correct the virtual host .*add_vhost.*set_permissions/],
  [sessionsReachable, 'UNAVAILABLE', /^Correct the database number/],
  [sessionsReachable, 'FORBIDDEN', /ACL/],
] as const)('$id: %s', async (check, code, says) => {
  const { text, commands } = await remedyOf({ check, code })
  expect(text).toMatch(says)
  expect(commands.join('\n')).not.toMatch(/systemctl/)
})

it.each(['UNAVAILABLE', 'FORBIDDEN', 'TIMED_OUT', 'UNEXPECTED_ANSWER'] as const)(
  'a platform that cannot be asked (%s) is no service that is to be started',
  async (code) => {
    const { text, commands } = await remedyOf({ check: serviceRunning, code })
    expect(text).toMatch(/^The state of the service could not be read/)
    expect(commands).toEqual(['systemctl status testops', 'testops-admin doctor -d prod --only service/running'])
  },
)

it.each(guards)('$id shows no evidence that only repeats what was said', async (check) => {
  const report = await judged(check, {
    sources: { [check.guards!]: new AdminError('SECRET_MISSING', 'the secret is missing') },
  })
  expect(report.findings).toEqual([{ message: 'the secret is missing', evidence: [] }])
})
