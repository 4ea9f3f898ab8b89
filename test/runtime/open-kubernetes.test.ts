import { expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../src/core/secret.ts'
import { openDeployment } from '../../src/runtime/open-deployment.ts'
import type { OpenedDeployment } from '../../src/runtime/open-deployment.ts'
import { findDeployment } from '../../src/runtime/index.ts'
import { recordedCluster } from '../kubernetes/cluster.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import { startCluster, told } from '../platforms/kubernetes/cluster.ts'
import { folderWith } from './folder.ts'

const recorded = 'testops-testops-8c5b7486b-5dvgm'

async function open(
  lines: string,
  world: Cluster = recordedCluster(),
): Promise<OpenedDeployment & { requests: readonly string[] }> {
  world.isFrozen = true
  const { server, environment } = await startCluster(world)
  const workingDirectory = await folderWith({
    'testops-admin.yaml': `deployments:\n  prod:\n${lines.replace(/^/gm, '    ')}\n`,
  })
  const all = { ...environment, HOME: workingDirectory }
  const opened = await openDeployment(await findDeployment({ environment: all, workingDirectory }), {
    timeoutMs: 2000,
    environment: all,
  })
  onTestFinished(async () => opened.close())
  return { ...opened, requests: server.requests }
}

it('a deployment of which nothing is configured but its platform', async () => {
  const world = recordedCluster()
  world.print(
    recorded,
    'testops-testops',
    '2026-11-20 12:00:00.000  INFO 1 --- [main] liquibase.lockservice : Waiting for changelog lock....',
    { at: '2026-11-20T12:00:00.000000000Z' },
  )
  for (const { spec } of world.deployments)
    spec.template.spec.containers.forEach(({ env }) =>
      env?.push({ name: 'ALLURE_RABBIT_DURABLE', value: 'true' }, { name: 'TZ', value: 'UTC' }),
    )
  const { deployment, open: sources, commands, requests } = await open('platform: kubernetes', world)
  expect(deployment).toMatchObject({
    name: 'prod',
    platform: 'kubernetes',
    vendor: { prefix: 'ALLURE' },
    timeZone: 'UTC',
  })
  expect(commands?.stop).toBe('kubectl --context test -n testops scale deployment/testops-testops --replicas=0')
  const service = await sources.service()
  expect((await service.status()).state).toBe('running')
  expect((await service.environment()).get('SPRING_DATASOURCE_PASSWORD')).toBeInstanceOf(Secret)
  const { records } = await (await sources.logs()).recent({ maxBytes: 100_000 })
  expect(records.map(({ level, text }) => [level, text])).toEqual([
    ['INFO', expect.stringContaining('Waiting for changelog lock....')],
  ])
  expect(requests.filter((it) => it.includes('/secrets/'))).toHaveLength(2)
})

it.each([
  [
    'a wrong context',
    'kubernetes: {context: prod}',
    { code: 'CONFIGURATION', message: 'kubectl has no context `prod` in FOLDER/config. Its contexts: `test`' },
  ],
  [
    'a namespace without the service',
    'kubernetes: {namespace: default}',
    {
      code: 'UNAVAILABLE',
      message:
        'the cluster of context `test` has no Deployment or StatefulSet with an image named `testops` or ' +
        '`testops-legacy` in namespace `default`',
    },
  ],
])('%s is told by the service, and does the configured parts no harm', async (_, lines, expected) => {
  const { open: sources, deployment } = await open(
    `url: http://127.0.0.1:1\ndatabase: {url: "postgresql://me@127.0.0.1:1/testops"}\n${lines}`,
  )
  expect(deployment.platform).toBe('kubernetes')
  expect(await told(sources.service())).toMatchObject(expected)
  expect(await told(sources.database())).toMatchObject({ code: 'UNREACHABLE' })
})

it('a time zone that may not be read is not known', async () => {
  const world = recordedCluster()
  world.forbidden.push({ resource: 'secrets' })
  for (const { spec } of world.deployments)
    spec.template.spec.containers.forEach(({ env }) =>
      env?.push({ name: 'TZ', valueFrom: { secretKeyRef: { name: 'testops-testops', key: 'zone' } } }),
    )
  const { deployment, open: sources } = await open('platform: kubernetes', world)
  expect(deployment.timeZone).toBe(null)
  expect(await told(sources.database())).toEqual({
    code: 'FORBIDDEN',
    message:
      "the service's setting `SPRING_DATASOURCE_PASSWORD` cannot be read: user tester has no permission to get " +
      'secrets `testops-testops` in namespace `testops` of the cluster of context `test`',
    suggestions: ['kubectl --context test auth can-i get secrets/testops-testops -n testops'],
  })
})

it.each(['localhost', '127.0.0.1', '[::1]'])(
  'a database at %s of the pod is never one of this machine',
  async (host) => {
    const world = recordedCluster()
    for (const { spec } of world.deployments) {
      for (const { env } of spec.template.spec.containers)
        env?.push({ name: 'SPRING_DATASOURCE_URL', value: `jdbc:postgresql://${host}:5432/testops` })
    }
    const { open: sources } = await open('platform: kubernetes', world)
    expect(await told(sources.database())).toEqual({
      code: 'UNAVAILABLE',
      message:
        `${host === '127.0.0.1' ? 'SERVER' : `${host.replace(/[[\]]/g, '')}:5432`} is an address inside the ` +
        "service's own pod. Cannot tell which server is behind it",
      suggestions: [
        "in the configuration, set the server's own address, or a local address that is forwarded to the server",
        'kubectl --context test -n testops port-forward deployment/testops-testops 5432   # forwards a local port ' +
          'to the pod. Leave it running',
      ],
    })
  },
)
