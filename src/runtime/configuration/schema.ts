import type { PlatformName } from '../../core/deployment.ts'
import { AdminError } from '../../core/error.ts'
import { isDay, isTimeZone } from '../../core/local-time.ts'
import { didYouMean } from '../../core/nearest.ts'
import { checkIds, isIgnorable, isOwnCheck, ownCheckId } from '../../knowledge/check-ids.ts'
import { defaultVendor } from '../../knowledge/settings.ts'
import {
  parseBrokerAddress,
  parseDatabaseAddress,
  parseHostPort,
  parseHttpAddress,
  parseSessionsAddress,
} from '../endpoints/addresses.ts'
import type { Named, Value } from './nodes.ts'
import { choice, command, file, list, oneOrMany, secret, section, text } from './nodes.ts'

const ca = file('PEM file of a private certificate authority', '/etc/ssl/private-ca.pem')
const user = text('user, if the address has none', 'testops')

const database = section('one data source', {
  url: text(
    '`postgresql://user@host/database`, or the JDBC address',
    'postgresql://testops@db.example.org/testops',
    withoutPassword(parseDatabaseAddress),
  ),
  user,
  password: secret('password of that user', '{file: /run/secrets/db}'),
  ca,
})

const broker = section('the message broker', {
  url: text(
    '`amqp://user@host/vhost`, amqps:// for TLS',
    'amqp://testops@mq.example.org',
    withoutPassword(parseBrokerAddress),
  ),
  managementUrl: text('address of the management plugin', 'http://mq.example.org:15672', valid(parseHttpAddress)),
  rabbitmqctl: command(
    'command for `rabbitmqctl`, if the management API is disabled or unreachable; by default found on this ' +
      "machine, or in the broker's pod or container",
    '[sudo, -n, rabbitmqctl]',
  ),
  user,
  password: secret('password of that user', '{env: MQ_PASSWORD}'),
  ca,
})

const sessions = section(
  'the session store',
  {
    url: text(
      '`redis://host:port/database`, rediss:// for TLS',
      'redis://redis.example.org:6379/0',
      withoutPassword(parseSessionsAddress),
    ),
    namespace: text('prefix of the session keys; detected by default', 'spring:session'),
    user,
    password: secret('password of the store', '{env: REDIS_PASSWORD}'),
    ca,
    sentinel: section(
      'instead of `url`: the Redis Sentinels of the session store',
      {
        master: text('name of the master', 'mymaster'),
        nodes: list('addresses of the sentinels', '["sentinel-1.example.org:26379"]', hostPort(26_379)),
        password: secret('password of the sentinels', '{env: SENTINEL_PASSWORD}'),
      },
      { required: ['master', 'nodes'] },
    ),
    cluster: list('instead of `url`: nodes of a cluster', '["redis-1.example.org:6379"]', hostPort(6379)),
  },
  { exclusive: ['url', 'sentinel', 'cluster'] },
)

const host = section(
  'the service on this machine, run by a systemd unit or by your own commands',
  {
    unit: text('systemd unit of the service', 'testops', (name) =>
      /^[\w@:.\\-]+$/.test(name) ? null : 'is not the name of a systemd unit',
    ),
    commands: section(
      'commands to run if there is no unit',
      {
        start: command('starts the service', '[/opt/testops/bin/service, start]'),
        stop: command('stops the service', '[/opt/testops/bin/service, stop]'),
        status: command(
          'exits with 0 if the service is running, with 3 if not; may print the output of `systemctl show`',
          '[/opt/testops/bin/service, status]',
        ),
      },
      { required: ['start', 'stop', 'status'] },
    ),
    logs: section(
      "the service's log; by default the unit's journal",
      {
        file: file('log file', '/var/log/testops/testops.log'),
        command: command('prints the log', '[docker, logs, testops]'),
      },
      { exclusive: ['file', 'command'] },
    ),
    environmentFile: file("the service's settings, `NAME=value` lines", '/etc/testops/testops.env'),
  },
  { exclusive: ['unit', 'commands'] },
)

const deployment = section('a deployment', {
  url: text('address of the web interface', 'https://testops.example.org', valid(parseHttpAddress)),
  apiToken: secret('API token of a user of the service', '{env: TESTOPS_TOKEN}'),
  ca,
  platform: choice('where the service runs', 'host', ['kubernetes', 'compose', 'host']),
  host,
  kubernetes: section('the service in a cluster', {
    context: text('context of kubectl', 'prod'),
    namespace: text('namespace', 'testops', dnsName(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'digits and dashes')),
    release: text(
      'release of Helm',
      'testops',
      dnsName(/^[a-z0-9]([a-z0-9.-]{0,51}[a-z0-9])?$/, 'digits, dots and dashes'),
    ),
    workload: text(
      'Deployment or StatefulSet of the service; needed if its image has been renamed',
      'testops-testops',
      dnsName(/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/, 'digits, dots and dashes'),
    ),
    values: file('values file of the release', 'deploy/values.yaml'),
    chart: text('umbrella chart', './charts/umbrella'),
    chartVersion: text('version of the umbrella chart', '1.2.3'),
    valuesPath: text("path of the service's values in the umbrella chart", 'testops'),
  }),
  compose: section('the service under Docker Compose', {
    project: text('name of the project', 'testops', composeName),
    file: file('compose file', '/opt/testops/docker-compose.yml'),
    service: text("the service's name in the compose file", 'testops', composeName),
  }),
  build: text('build that should run (platform host)', '527u01'),
  image: text('image that should run (platform host)', 'registry.example.org/testops/testops:527u01'),
  cpuinfo: file("copy of /proc/cpuinfo from the service's machine", 'cpuinfo.txt'),
  timeZone: text("time zone of the service's JVM", 'Europe/Berlin', (name) =>
    isTimeZone(name) ? null : 'is not a time zone; an example is Europe/Berlin',
  ),
  vendor: section("names of the vendor's settings and loggers", {
    prefix: text('prefix of settings', defaultVendor.prefix, (name) =>
      /^[A-Z][A-Z0-9_]*$/.test(name)
        ? null
        : 'must be upper-case letters, digits and underscores, and begin with a letter',
    ),
    package: text('package of loggers', defaultVendor.package, (name) =>
      /^[\w.-]+$/.test(name) ? null : 'is not a package name',
    ),
  }),
  database: oneOrMany("the service's database, or a list of its databases, the main database first", '', database),
  broker,
  sessions,
  integrations: list(
    'external systems that the service uses',
    '',
    section(
      'an external system',
      {
        name: text('name of the system', 'tracker'),
        url: text('address of the system', 'https://tracker.example.org', valid(parseHttpAddress)),
        user: text('user of the integration', 'testops@example.org'),
        password: secret('password or token of that user', '{env: TRACKER_TOKEN}'),
      },
      { required: ['name', 'url'] },
    ),
  ),
  ignore: list(
    'checks whose problems do not count for a while; repairs do not ignore them',
    '',
    section(
      'an ignored check',
      {
        check: text('id of the check, as `checks` lists it', 'api/token-lifetime', checkProblem),
        reason: text('why', 'the token is renewed by a job'),
        until: text('last day on which it is ignored, in UTC', '2027-01-31', (day) =>
          isDay(day) ? null : 'must be a day of the calendar, such as 2027-01-31',
        ),
      },
      { required: ['check', 'reason', 'until'] },
    ),
  ),
  accessLog: section(
    'access log of the proxy in front of the service',
    { file: file('log file', '/var/log/nginx/access.log') },
    { required: ['file'] },
  ),
  checks: list(
    'your own checks, one JavaScript file each; its name is the name of the check',
    '[checks/outbox.mjs]',
    file('a check file', 'checks/outbox.mjs', (path) =>
      /(?:^|\/)[a-z\d][a-z\d-]{0,39}\.m?js$/.test(path)
        ? null
        : 'must be a file named with lower-case letters, digits and dashes (40 at most) that ends in .mjs or .js',
    ),
  ),
})

const deployments: Named<typeof deployment> = {
  kind: 'named',
  about: 'the deployments by name',
  example: 'prod',
  of: deployment,
  problem: (name) =>
    /^[A-Za-z0-9][\w.-]{0,62}$/.test(name)
      ? null
      : 'must contain only letters, digits, dots, dashes and underscores (63 at most), and begin with a letter ' +
        'or a digit',
}

/** Everything that a configuration may say: validation, the template and the table of keys are made from this value. */
export const schema = section(
  'the configuration',
  { current: text('deployment to use if neither `-d` nor TESTOPS_ADMIN_DEPLOYMENT names one', 'prod'), deployments },
  { required: ['deployments'] },
)

export type Settings = Value<typeof schema>
export type DeploymentSettings = Value<typeof deployment>
export type DatabaseSettings = Value<typeof database>
export type SessionsSettings = Value<typeof sessions>

function valid(read: (value: string) => unknown): (value: string) => string | null {
  return (value) => {
    try {
      read(value)
      return null
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
}

function withoutPassword(read: (value: string) => { password: string | null }): (value: string) => string | null {
  return (value) => {
    let password: string | null = null
    const problem = valid((address) => ({ password } = read(address)))(value)
    const remedy =
      'holds a password; remove it, and add a key to the same section: `password: {env: NAME}` or `password: ' +
      '{file: PATH}`'
    return password === null ? problem : remedy
  }
}

/** Returns a check for names as Kubernetes and Helm accept them. */
function dnsName(form: RegExp, others: string): (name: string) => string | null {
  return (name) => (form.test(name) ? null : `must be lower-case letters, ${others}`)
}

/** Checks a name. Older versions of Compose accept capitals in a project's name, too. */
function composeName(name: string): string | null {
  return /^[A-Za-z0-9_][\w.-]*$/.test(name)
    ? null
    : 'must contain only letters, digits, dots, dashes and underscores, and begin with a letter, a digit or an ' +
        'underscore'
}

function checkProblem(id: string): string | null {
  if (!isOwnCheck(id) && !checkIds.includes(id)) {
    const hint = didYouMean(id, checkIds)
    return `is not the id of a check${hint ? `; ${hint}` : ': `testops-admin checks` lists them'}`
  }
  return isIgnorable(id) ? null : 'cannot be ignored: without it, `doctor` would be wrong about all else'
}

function hostPort(defaultPort: number) {
  return text(
    'host:port',
    `redis.example.org:${defaultPort}`,
    valid((value) => parseHostPort(value, defaultPort)),
  )
}

/** Number of check files of one deployment, at most: each is a process */
const mostOwnChecks = 50

/** Throws CONFIGURATION for two check files of one name, too many, and an ignored own check that has no file. */
export function assertOwnChecks(
  name: string,
  { checks = [], ignore = [] }: DeploymentSettings,
  at: (path: readonly (string | number)[]) => string,
): void {
  const ids = checks.map(({ path }) => ownCheckId(path))
  if (ids.length > mostOwnChecks)
    throw new AdminError(
      'CONFIGURATION',
      `\`checks\` at ${at(['deployments', name, 'checks'])} has more than ${mostOwnChecks} files`,
    )
  const again = ids.findIndex((id, index) => ids.indexOf(id) !== index)
  if (again >= 0)
    throw new AdminError(
      'CONFIGURATION',
      `\`checks[${again}]\` at ${at(['deployments', name, 'checks', again])} is a second file for check ` +
        `\`${ids[again]}\``,
      ['give one of the two files another name'],
    )
  const missing = ignore.findIndex(({ check }) => isOwnCheck(check) && !ids.includes(check))
  if (missing < 0) return
  const id = ignore[missing]!.check
  const hint = didYouMean(id, ids)
  throw new AdminError(
    'CONFIGURATION',
    `\`ignore[${missing}].check\` at ${at(['deployments', name, 'ignore', missing, 'check'])} is not the id of a ` +
      `check${hint ? `; ${hint}` : ': no file of `checks` has that name'}`,
  )
}

const sections = ['host', 'compose', 'kubernetes'] as const

/**
 * Returns the possible platforms of a deployment by its configuration: the one it names, otherwise those with a
 * section, otherwise this machine.
 */
export function possiblePlatforms(settings: DeploymentSettings): readonly [PlatformName, ...PlatformName[]] {
  if (settings.platform) return [settings.platform]
  const [first = 'host', ...others] = sections.filter((section) => settings[section] !== undefined)
  return [first, ...others]
}

/** Keys that only some platforms use: the others find these values themselves. */
const keysOf = { build: ['host', 'compose'], image: ['host'], cpuinfo: ['host', 'compose'] } as const satisfies Partial<
  Record<keyof DeploymentSettings, readonly PlatformName[]>
>

/** Throws CONFIGURATION for a key that the deployment's platform would ignore. */
export function assertKeysCount(
  name: string,
  settings: DeploymentSettings,
  at: (path: readonly string[]) => string,
): void {
  const [platform, ...others] = possiblePlatforms(settings)
  if (others.length > 0) return
  for (const [key, platforms] of Object.entries(keysOf)) {
    if (settings[key as keyof typeof keysOf] === undefined || (platforms as readonly PlatformName[]).includes(platform))
      continue
    throw new AdminError(
      'CONFIGURATION',
      `\`${key}\` at ${at(['deployments', name, key])} has no effect on platform ${platform}, only on ` +
        `${platforms.join(' and ')}`,
      ['leave the key out'],
    )
  }
}
