import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { practiceMachine } from '../../src/lab/practice-service/machine.ts'
import { startPracticeService } from '../../src/lab/practice-service/service.ts'
import type { PracticeService } from '../../src/lab/practice-service/service.ts'
import { recordedCluster } from '../kubernetes/cluster.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import { localPrograms } from '../kubernetes/exec.ts'
import { kubeconfigFor } from '../kubernetes/passing-kubeconfig.ts'
import type { Pod, Workload } from '../kubernetes/resources.ts'
import { startApiServer } from '../kubernetes/server.ts'
import type { ApiServer } from '../kubernetes/server.ts'
import { forwardPorts, upgraded } from '../kubernetes/streams.ts'
import { freshDatabase, freshRedisDatabase, freshVhost, rabbitmqctlOf, servers } from '../servers/index.ts'
import type { FreshDatabase, FreshVhost } from '../servers/index.ts'
import { freePort } from '../../src/lab/servers/local/ports.ts'
import { proxyTo } from '../repairs/support/proxy.ts'
import type { Proxy } from '../repairs/support/proxy.ts'

const deployment = 'testops-testops'
const namespace = 'testops'
const outsideName = 'db.corp.invalid'

/**
 * A cluster in which scaling starts and stops the practice service on real servers, which are in reach by port-forwards
 * alone.
 */
export interface KubernetesWorld {
  cluster: Cluster
  database: FreshDatabase
  vhost: FreshVhost
  /** of kubectl */
  kubeconfig: string
  requests: readonly string[]
  api: ApiServer
  /** the way of forwards to the broker's AMQP port, and to the database */
  ways: { broker: Proxy; database: Proxy }
  /** cuts every connection through the API server that is open now */
  breakForwards: () => void
  /** pods to which streams are opened, and break at once */
  breaking: Set<string>
  isReady: () => boolean
  close: () => Promise<void>
}

/**
 * `outside`: the database is no part of the cluster, and its name resolves in pods alone. Without `management`, that
 * port leads nowhere.
 */
export async function kubernetesWorld(
  settings: Readonly<Record<string, string>> = {},
  { outside = false, management = true } = {},
): Promise<KubernetesWorld> {
  const [database, vhost, redis] = await Promise.all([freshDatabase(), freshVhost('3'), freshRedisDatabase()])
  const cluster = recordedCluster()
  const server = await startApiServer(cluster)
  const running = new Map<string, PracticeService>()
  /** of the pods' services, by name */
  const ports = new Map<string, number>()
  const [host] = database.endpoint.hosts
  const ways = { broker: await proxyTo(vhost.endpoint), database: await proxyTo(host!) }
  const places: Readonly<Record<string, { host: string; port: number }>> = {
    'testops-postgresql:5432': { host: '127.0.0.1', port: ways.database.port },
    'testops-rabbitmq:5672': { host: '127.0.0.1', port: ways.broker.port },
    ...(management && {
      'testops-rabbitmq:15672': {
        host: new URL(vhost.endpoint.managementUrl!).hostname,
        port: Number(new URL(vhost.endpoint.managementUrl!).port),
      },
    }),
    'testops-redis-master:6379': redis.endpoint,
  }
  const databaseHost = outside ? outsideName : 'testops-postgresql'
  const inCluster: Record<string, string> = {
    SPRING_DATASOURCE_URL: `jdbc:postgresql://${databaseHost}:5432/${database.endpoint.database}`,
    SPRING_DATASOURCE_USERNAME: database.endpoint.user ?? '',
    SPRING_DATASOURCE_PASSWORD: database.endpoint.password?.reveal() ?? '',
    SPRING_RABBITMQ_ADDRESSES: 'amqp://testops-rabbitmq:5672',
    SPRING_RABBITMQ_VIRTUAL_HOST: vhost.vhost,
    SPRING_RABBITMQ_USERNAME: vhost.endpoint.user,
    SPRING_RABBITMQ_PASSWORD: vhost.endpoint.password?.reveal() ?? '',
    SPRING_DATA_REDIS_HOST: 'testops-redis-master',
    SPRING_DATA_REDIS_PORT: '6379',
    SPRING_DATA_REDIS_DATABASE: String(redis.database),
    VENDOR_ENDPOINT: 'http://testops-testops:8080',
    VENDOR_RABBIT_DURABLE: 'true',
    TZ: 'UTC',
    ...settings,
  }
  const edit = (change: (it: Workload) => void): void =>
    cluster.update('deployments', cluster.get('deployments', namespace, deployment), (it) => change(it as Workload))
  const container = (it: Workload): Workload['spec']['template']['spec']['containers'][number] =>
    it.spec.template.spec.containers.find(({ name }) => name === deployment)!

  /** What the pod's own container sees: the same settings, by the addresses that lead there from here. */
  const environmentOf = (pod: Pod, port: number): Record<string, string> => {
    const env = pod.spec.containers.find(({ name }) => name === deployment)?.env ?? []
    const own = Object.fromEntries(env.map(({ name, value = '' }) => [name, value]))
    return {
      ...own,
      SPRING_DATASOURCE_URL: `jdbc:postgresql://${host!.host}:${host!.port}/${database.endpoint.database}`,
      SPRING_RABBITMQ_ADDRESSES: `amqp://${vhost.endpoint.host}:${vhost.endpoint.port}`,
      SPRING_DATA_REDIS_HOST: redis.endpoint.host,
      SPRING_DATA_REDIS_PORT: String(redis.endpoint.port),
      SERVER_ADDRESS: '127.0.0.1',
      SERVER_PORT: String(port),
    }
  }
  cluster.hooks.starting = async (pod): Promise<'ready'> => {
    const { name } = pod.metadata
    if (!name.startsWith(`${deployment}-`)) return 'ready'
    const write = (text: string): void =>
      text
        .trimEnd()
        .split('\n')
        .forEach((line) => cluster.print(name, deployment, line))
    const port = await freePort()
    ports.set(name, port)
    running.set(
      name,
      await startPracticeService(environmentOf(pod, port), practiceMachine({ hostName: name, brokerRetryMs: 300 }), {
        write,
      }),
    )
    return 'ready'
  }
  cluster.hooks.stopping = async ({ metadata: { name } }) => {
    await running.get(name)?.stop()
    running.delete(name)
    ports.delete(name)
  }
  // what is called so in a pod is here
  const run = localPrograms('sh', 'sleep')
  const ctl = rabbitmqctlOf(servers().rabbitmq3)
  cluster.hooks.exec = ({ command, ...call }) =>
    command[0] === 'rabbitmqctl'
      ? spawn(ctl.command[0], [...ctl.command.slice(1), ...command.slice(1)], { env: ctl.environment })
      : run({
          ...call,
          command: command.map((word, index) =>
            command[index - 1] === outsideName ? String(host!.port) : word === outsideName ? host!.host : word,
          ),
        })
  const streams = new Set<Duplex>()
  const breaking = new Set<string>()
  server.upgrade = (asked, request, socket, head) => {
    if (breaking.has(asked.name ?? ''))
      return void upgraded(request, socket, head, ['v4.channel.k8s.io'], (stream) => stream.terminate())
    streams.add(socket)
    socket.once('close', () => streams.delete(socket))
    forwardPorts(request, socket, head, {
      connect(wanted): Socket | null {
        const own = ports.get(asked.name ?? '')
        if (own !== undefined && wanted === 8080) return connect({ host: '127.0.0.1', port: own })
        const [, place] =
          Object.entries(places).find(
            ([key]) => key.endsWith(`:${wanted}`) && asked.name?.startsWith(key.split(':')[0]!),
          ) ?? []
        return place ? connect({ host: place.host, port: place.port }) : null
      },
    })
  }

  for (const [name, servicePort] of [
    ['testops-postgresql', 5432],
    ['testops-redis-master', 6379],
  ] as const) {
    cluster.load('services', {
      metadata: { name, namespace },
      spec: { selector: { app: name }, clusterIP: '10.96.0.9', ports: [{ port: servicePort }] },
    })
    cluster.load('statefulsets', {
      metadata: { name, namespace, uid: name },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { containers: [{ name, image: `registry.example.org/${name}:1` }] },
        },
      },
    })
  }
  // those of the recording have no service behind them
  for (const pod of cluster.pods) if (pod.metadata.name.startsWith(deployment)) cluster.remove('pods', pod)
  edit((it) => {
    it.spec.replicas = 1
    Object.assign(container(it), { env: Object.entries(inCluster).map(([name, value]) => ({ name, value })) })
    delete container(it)['envFrom']
  })
  cluster.settle()

  const isReady = (): boolean => {
    const names = cluster.pods.map(({ metadata }) => metadata.name)
    const ready = cluster.pods.filter(({ status }) =>
      status.conditions.some(({ type, status: it }) => type === 'Ready' && it === 'True'),
    )
    return (
      ready.length === names.length &&
      ['testops-postgresql', 'testops-redis-master', 'testops-rabbitmq', deployment].every((it) =>
        names.some((name) => name.startsWith(it)),
      ) &&
      running.size === 1
    )
  }
  return {
    cluster,
    database,
    vhost,
    kubeconfig: await kubeconfigFor(server.url),
    requests: server.requests,
    api: server,
    ways,
    breakForwards() {
      for (const stream of streams) stream.destroy()
    },
    breaking,
    isReady,
    async close() {
      for (const service of running.values()) await service.stop()
      await server.close()
      await Promise.all([ways.broker.close(), ways.database.close()])
      await Promise.all([database.cleanup(), vhost.cleanup(), redis.cleanup()])
    },
  }
}
