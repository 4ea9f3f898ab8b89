// A cluster that runs the lab's service: an API server over TLS, with port-forwards to the lab's real servers.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { fromSources } from './bundle.js'

export const program = fileURLToPath(new URL('../bin/run.js', import.meta.url))
const namespace = 'testops'
const wanted = `export {parseYaml} from './src/adapters/yaml/index.ts'
  export {kubeconfigIn, testCertificate} from './test/kubernetes/kubeconfig.ts'
  export {recordedCluster} from './test/kubernetes/cluster.ts'
  export {startApiServer} from './test/kubernetes/server.ts'
  export {forwardPorts} from './test/kubernetes/streams.ts'
  export {kubernetesTools} from './test/support/kubernetes-tools.ts'
  export {parseEnvironmentFile} from './src/platforms/host/index.ts'`

/**
 * Starts a lab, and a cluster that runs it. `env` leads kubectl and the program to the cluster, with a folder of its
 * own where nothing is configured. `delay` makes each answer late by that many milliseconds; `fill` adds objects.
 */
export async function labCluster({ fill = () => undefined } = {}) {
  const {
    kubeconfigIn,
    testCertificate,
    recordedCluster,
    startApiServer,
    forwardPorts,
    kubernetesTools,
    parseEnvironmentFile,
    parseYaml,
  } = await fromSources(wanted)
  const { kubectl } = await kubernetesTools()
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  const env = {
    ...process.env,
    TESTOPS_ADMIN_LAB_DIR: join(folder, 'lab'),
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CONFIG_HOME: join(folder, 'config'),
  }
  const lab = (...words) =>
    execFileSync(process.execPath, [program, 'lab', ...words], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
    })
  lab('up', '--json')
  const { directory } = JSON.parse(lab('status', '--json'))
  const settings = parseEnvironmentFile(readFileSync(join(directory, 'service', 'service.env'), 'utf8'))
  const managementUrl = parseYaml(readFileSync(join(directory, 'testops-admin.yaml'), 'utf8')).value.deployments.lab
    .broker.managementUrl
  const cluster = recordedCluster()
  const places = runsAs(cluster, settings, Number(new URL(managementUrl).port))
  const server = await startApiServer(cluster, testCertificate())
  let lateMs = 0
  server.instead = (_, response) => {
    if (lateMs > 0) late(response, lateMs)
    return false
  }
  server.upgrade = (asked, request, socket, head) => {
    const place = (port) =>
      Object.keys(places).find((it) => asked.name.startsWith(it.split(':')[0]) && it.endsWith(`:${port}`))
    const lead = () =>
      forwardPorts(request, socket, head, {
        connect: (port) => (place(port) ? connect({ host: '127.0.0.1', port: places[place(port)] }) : null),
      })
    if (lateMs > 0) setTimeout(lead, lateMs)
    else lead()
  }
  while (
    !['testops-testops', 'testops-postgresql', 'testops-redis-master', 'testops-rabbitmq'].every((name) =>
      cluster.pods.some((pod) => pod.metadata.name.startsWith(`${name}-`) && isReady(pod)),
    )
  )
    await sleep(50)
  fill(cluster)
  return {
    env: { ...env, KUBECONFIG: await kubeconfigIn(folder, server.url) },
    folder,
    kubectl,
    delay: (ms) => (lateMs = ms),
    async close() {
      await server.close()
      lab('down')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Gives the recorded deployment the settings of the lab's service, with names of the cluster. Returns the ports on this
 * machine that those names lead to.
 */
function runsAs(cluster, settings, managementPort) {
  const [, port, database] = /:(\d+)\/(.*)$/.exec(settings.get('SPRING_DATASOURCE_URL'))
  const places = {
    'testops-postgresql:5432': Number(port),
    'testops-rabbitmq:5672': Number(settings.get('SPRING_RABBITMQ_PORT')),
    'testops-rabbitmq:15672': managementPort,
    'testops-redis-master:6379': Number(settings.get('SPRING_DATA_REDIS_PORT')),
    'testops-testops:8080': Number(settings.get('SERVER_PORT')),
  }
  const own = new Map(settings)
  for (const name of ['SERVER_ADDRESS', 'SERVER_PORT']) own.delete(name)
  own.set('SPRING_DATASOURCE_URL', `jdbc:postgresql://testops-postgresql:5432/${database}`)
  own.set('SPRING_RABBITMQ_HOST', 'testops-rabbitmq').set('SPRING_RABBITMQ_PORT', '5672')
  own.set('SPRING_DATA_REDIS_HOST', 'testops-redis-master').set('SPRING_DATA_REDIS_PORT', '6379')
  own.set('VENDOR_ENDPOINT', 'http://testops-testops:8080')
  for (const [name, at] of [
    ['testops-postgresql', 5432],
    ['testops-redis-master', 6379],
  ]) {
    cluster.load('services', {
      metadata: { name, namespace },
      spec: { selector: { app: name }, clusterIP: '10.96.0.9', ports: [{ port: at }] },
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
  const service = cluster.get('deployments', namespace, 'testops-testops')
  for (const pod of cluster.pods) if (pod.metadata.name.startsWith('testops-testops-')) cluster.remove('pods', pod)
  cluster.update('deployments', service, ({ spec }) => {
    const container = spec.template.spec.containers.find(({ name }) => name === 'testops-testops')
    spec.replicas = 1
    container.env = [...own].map(([name, value]) => ({ name, value }))
    container.image = container.image.replace(/:[^:]*$/, ':527u01')
    delete container.envFrom
  })
  cluster.settle()
  return places
}

function isReady({ status }) {
  return status.conditions?.some((it) => it.type === 'Ready' && it.status === 'True')
}

/** Delays an answer by `ms` milliseconds. */
function late(response, ms) {
  const [head, end] = [response.writeHead.bind(response), response.end.bind(response)]
  let given = []
  response.writeHead = (...words) => {
    given = words
    return response
  }
  response.end = (...words) => {
    setTimeout(() => {
      head(...given)
      end(...words)
    }, ms)
    return response
  }
}
