import { practiceMachine } from '../../src/lab/practice-service/machine.ts'
import { startPracticeService } from '../../src/lab/practice-service/service.ts'
import type { PracticeService } from '../../src/lab/practice-service/service.ts'
import { composeWorld, recorded } from '../platforms/compose/world.ts'
import type { ComposeWorld, Shown } from '../platforms/compose/world.ts'
import { freshDatabase, freshRedisDatabase, freshVhost } from '../servers/index.ts'
import type { FreshDatabase, FreshRedisDatabase, FreshVhost } from '../servers/index.ts'
import { freePort } from '../../src/lab/servers/local/ports.ts'

const image = 'registry.example.org/qameta/testops:527u01'

/**
 * A compose project of which an engine that stands for a real one starts and stops the practice service, on real
 * servers that are in reach by their containers' addresses, as PostgreSQL and Redis are, or by the ports that these
 * publish.
 */
export interface ComposeProject {
  world: ComposeWorld
  database: FreshDatabase
  vhost: FreshVhost
  redis: FreshRedisDatabase
  /** of the service */
  url: string
  /** how far its clock is ahead when it is started next */
  clock: { aheadMs: number }
  close: () => Promise<void>
}

export async function composeProject(more: Readonly<Record<string, string>> = {}): Promise<ComposeProject> {
  const [database, vhost, redis] = await Promise.all([freshDatabase(), freshVhost('3'), freshRedisDatabase()])
  const [host] = database.endpoint.hosts
  const management = new URL(vhost.endpoint.managementUrl!)
  const port = await freePort()
  const settings: Record<string, string> = {
    SPRING_DATASOURCE_URL: `jdbc:postgresql://testops-db:${host!.port}/${database.endpoint.database}?sslmode=disable`,
    SPRING_DATASOURCE_USERNAME: database.endpoint.user ?? '',
    SPRING_DATASOURCE_PASSWORD: database.endpoint.password?.reveal() ?? '',
    SPRING_RABBITMQ_HOST: 'rabbitmq',
    SPRING_RABBITMQ_PORT: '5672',
    SPRING_RABBITMQ_VIRTUAL_HOST: vhost.vhost,
    SPRING_RABBITMQ_USERNAME: vhost.endpoint.user,
    SPRING_RABBITMQ_PASSWORD: vhost.endpoint.password?.reveal() ?? '',
    SPRING_DATA_REDIS_HOST: 'redis',
    SPRING_DATA_REDIS_PORT: String(redis.endpoint.port),
    SPRING_DATA_REDIS_DATABASE: String(redis.database),
    ...(redis.endpoint.password && { SPRING_DATA_REDIS_PASSWORD: redis.endpoint.password.reveal() }),
    VENDOR_ENDPOINT: 'http://testops:8080',
    VENDOR_RABBIT_DURABLE: 'true',
    TZ: 'UTC',
    ...more,
  }
  const lines = Object.entries(settings).map(
    ([name, value]) => `      ${name}: ${JSON.stringify(value.replaceAll('$', '$$$$'))}\n`,
  )
  const file =
    `# of the vendor, and ours\nservices:\n  testops:\n    image: ${image}\n    environment:\n${lines.join('')}  ` +
    `    VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: \${TESTOPS_SESSION_DURATION}  # an hour\n`
  const server = async (
    name: string,
    address: string,
    published: Shown['NetworkSettings']['Ports'] = {},
  ): Promise<Shown> =>
    recorded('redis', (shown) => {
      shown.Id = Buffer.from(name).toString('hex').padEnd(64, '0')
      shown.Name = `/${name}`
      Object.assign(shown.State, { Status: 'running', StartedAt: new Date().toISOString() })
      Object.assign(shown.Config, { Image: `${name}:1`, Hostname: shown.Id.slice(0, 12) })
      shown.Config.Labels['com.docker.compose.service'] = name
      Object.assign(shown.NetworkSettings.Networks['testops_testops-net']!, { IPAddress: address, Aliases: [name] })
      shown.NetworkSettings.Ports = published
    })
  const service = recorded('testops', ({ State, Config, NetworkSettings, HostConfig }) => {
    Object.assign(State, { Status: 'exited', Pid: 0, Health: undefined })
    Object.assign(Config, {
      Image: image,
      Env: Object.entries({ ...settings, VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: '3600' }).map(
        ([name, value]) => `${name}=${value}`,
      ),
    })
    HostConfig.RestartPolicy.Name = 'unless-stopped'
    NetworkSettings.Ports = { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: String(port) }] }
  })
  const containers = await Promise.all([
    service,
    server('testops-db', host!.host),
    server('rabbitmq', '', {
      '5672/tcp': [{ HostIp: vhost.endpoint.host, HostPort: String(vhost.endpoint.port) }],
      '15672/tcp': [{ HostIp: management.hostname, HostPort: management.port }],
    }),
    server('redis', redis.endpoint.host),
  ])

  const clock = { aheadMs: 0 }
  const log = { stdout: '' }
  let running: PracticeService | null = null
  /** What the container sees: the same settings, by the addresses that lead there from here. */
  const environmentOf = ({ Config: { Env } }: Shown): Record<string, string> => ({
    ...Object.fromEntries(Env.map((it) => [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)])),
    SPRING_DATASOURCE_URL: `jdbc:postgresql://${host!.host}:${host!.port}/${database.endpoint.database}`,
    SPRING_RABBITMQ_HOST: vhost.endpoint.host,
    SPRING_RABBITMQ_PORT: String(vhost.endpoint.port),
    SPRING_DATA_REDIS_HOST: redis.endpoint.host,
    SERVER_ADDRESS: '127.0.0.1',
    SERVER_PORT: String(port),
  })
  const world = await composeWorld(
    {
      containers,
      logs: { testops: log },
      async starting(container) {
        const write = (text: string): void =>
          text
            .trimEnd()
            .split('\n')
            .forEach((line) => (log.stdout += `${new Date().toISOString().replace('Z', '000000Z')} ${line}\n`))
        const machine = practiceMachine({
          hostName: container.Config.Hostname,
          brokerRetryMs: 300,
          clockOffsetMs: clock.aheadMs,
        })
        running = await startPracticeService(environmentOf(container), machine, { write })
      },
      async stopping() {
        await running?.stop()
        running = null
      },
    },
    { 'project/docker-compose.yml': file, 'project/.env': '# release\nTESTOPS_SESSION_DURATION=3600\nOTHER=1' },
  )
  return {
    world,
    database,
    vhost,
    redis,
    url: `http://127.0.0.1:${port}`,
    clock,
    async close() {
      await running?.stop()
      await Promise.all([database.cleanup(), vhost.cleanup(), redis.cleanup()])
    },
  }
}
