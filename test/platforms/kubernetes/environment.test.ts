import { describe, expect, it } from 'vitest'
import { PartialSettings } from '../../../src/core/deployment.ts'
import { Secret } from '../../../src/core/secret.ts'
import { environmentOf } from '../../../src/platforms/kubernetes/environment.ts'
import type { Container } from '../../../src/platforms/kubernetes/objects.ts'
import { recordedObjects } from '../../kubernetes/recordings.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { clientFor, startCluster, told } from './cluster.ts'

const fromSecret = (name: string, key: string, optional?: boolean): object => ({
  valueFrom: { secretKeyRef: { name, key, ...(optional && { optional }) } },
})
const fromMap = (name: string, key: string): object => ({ valueFrom: { configMapKeyRef: { name, key } } })

async function read(
  container: Partial<Container>,
  prepare: (world: Cluster) => void = () => undefined,
): Promise<{ settings: ReadonlyMap<string, string | Secret>; requests: readonly string[] }> {
  const { cluster, server, environment } = await startCluster()
  cluster.load('configmaps', {
    metadata: { name: 'plain', namespace: 'testops' },
    data: { TZ: 'Europe/Berlin', DB_PASSWORD: 'in clear' },
  })
  cluster.load('configmaps', { metadata: { name: 'verbatim', namespace: 'testops' }, data: { URL: '$(HOST)/$$x' } })
  cluster.load('secrets', {
    metadata: { name: 'verbatim', namespace: 'testops' },
    data: { pass: Buffer.from('$(HOST)$$').toString('base64') },
  })
  prepare(cluster)
  const settings = await environmentOf(await clientFor(environment), 'testops', { name: 'main', ...container })
  return { settings, requests: server.requests }
}

/** Secrets are shown as `secret: value`. */
function clear(settings: ReadonlyMap<string, string | Secret>): Record<string, string> {
  return Object.fromEntries(
    [...settings].map(([name, value]) => [name, value instanceof Secret ? `secret: ${value.reveal()}` : value]),
  )
}

describe('the environment of a container', () => {
  it('is read as recorded, each Secret once', async () => {
    const [deployment] = recordedObjects('deployment-get') as unknown as {
      spec: { template: { spec: { containers: Container[] } } }
    }[]
    const { settings, requests } = await read(deployment?.spec.template.spec.containers[0] ?? {})
    expect(clear(settings)).toEqual({
      SPRING_DATASOURCE_URL: 'jdbc:postgresql://testops-postgresql:5432/testops?sslmode=prefer',
      SPRING_DATASOURCE_USERNAME: 'secret: testops',
      SPRING_DATASOURCE_PASSWORD: 'secret: db-secret',
      SPRING_RABBITMQ_ADDRESSES: 'amqp://testops-rabbitmq:5672',
      SPRING_RABBITMQ_USERNAME: 'secret: testops',
      SPRING_RABBITMQ_PASSWORD: 'secret: rabbit-secret',
      SPRING_DATA_REDIS_HOST: 'testops-redis-master',
      SPRING_DATA_REDIS_PASSWORD: 'secret: redis-secret',
      FAKE_LOG: '2026-11-20 12:00:00.000  INFO 1 --- [main] liquibase.lockservice : Waiting for changelog lock....',
      FAKE_LOG_EVERY: '2',
    })
    expect(requests).toEqual(['GET /api/v1/namespaces/testops/secrets/testops-testops'])
  })

  it.each<[string, Partial<Container>, Record<string, string>]>([
    [
      'the last of a name wins',
      {
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
        ],
      },
      { A: '2' },
    ],
    ['an entry without a value is empty', { env: [{ name: 'A' }] }, { A: '' }],
    [
      'fields of the pod are left out',
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } as object }] },
      {},
    ],
    ['what looks secret is kept as one', { env: [{ name: 'API_TOKEN', value: 'x' }] }, { API_TOKEN: 'secret: x' }],
    ['a ConfigMap', { env: [{ name: 'ZONE', ...fromMap('plain', 'TZ') }] }, { ZONE: 'Europe/Berlin' }],
    [
      'a key and an object that are not there',
      {
        env: [
          { name: 'A', ...fromMap('plain', 'nope') },
          { name: 'B', ...fromSecret('nope', 'x', true) },
        ],
      },
      {},
    ],
    [
      'all of an object, with a prefix',
      { envFrom: [{ prefix: 'P_', configMapRef: { name: 'plain' } }] },
      { P_TZ: 'Europe/Berlin', P_DB_PASSWORD: 'secret: in clear' },
    ],
    [
      'entries stand above whole objects, of which the last counts',
      {
        envFrom: [{ configMapRef: { name: 'plain' } }, { secretRef: { name: 'nope', optional: true } }],
        env: [{ name: 'TZ', value: 'UTC' }],
      },
      { TZ: 'UTC', DB_PASSWORD: 'secret: in clear' },
    ],
    [
      'references to what stands before',
      {
        env: [
          { name: 'HOST', value: 'db' },
          { name: 'URL', value: 'jdbc:$(HOST):$(PORT)/$$(HOST)' },
          { name: 'LOGIN', ...fromSecret('testops-testops', 'testopsDbUser') },
          { name: 'WHO', value: '$(LOGIN)@db' },
        ],
      },
      { HOST: 'db', URL: 'jdbc:db:$(PORT)/$(HOST)', LOGIN: 'secret: testops', WHO: 'secret: testops@db' },
    ],
    [
      'no references in what a ConfigMap or a Secret holds',
      {
        envFrom: [{ configMapRef: { name: 'verbatim' } }],
        env: [
          { name: 'HOST', value: 'db' },
          { name: 'URL', ...fromMap('verbatim', 'URL') },
          { name: 'PASS', ...fromSecret('verbatim', 'pass') },
          { name: 'ALL', value: '$(PASS)/$(URL)' },
        ],
      },
      { URL: '$(HOST)/$$x', HOST: 'db', PASS: 'secret: $(HOST)$$', ALL: 'secret: $(HOST)$$/$(HOST)/$$x' },
    ],
  ])('%s', async (_, container, expected) => {
    expect(clear((await read(container)).settings)).toEqual(expected)
  })

  it(
    'of which a Secret may not be read: ' + 'the rest is there, and what is missing is told when it is needed',
    async () => {
      const container = {
        envFrom: [{ secretRef: { name: 'testops-testops' } }],
        env: [
          { name: 'HOST', value: 'db' },
          { name: 'DB_PASS', ...fromSecret('testops-testops', 'testopsDbPass') },
          { name: 'URL', value: 'db?p=$(DB_PASS)' },
        ],
      }
      const { settings, requests } = await read(
        container,
        (world) => void world.forbidden.push({ resource: 'secrets', verb: 'get' }),
      )
      expect([...settings.keys()]).toEqual(['HOST', 'DB_PASS', 'URL'])
      expect(settings instanceof PartialSettings && settings.missing.message).toMatch(
        new RegExp(
          '^some settings of the service cannot be read: ' +
            'user tester has no permission to get secrets `testops-testops` in namespace `testops`',
        ),
      )
      expect([settings.get('HOST'), String(settings.get('DB_PASS')), requests.length]).toEqual(['db', '[secret]', 1])
      const password = settings.get('DB_PASS')
      expect(await told(Promise.resolve().then(() => password instanceof Secret && password.reveal()))).toEqual({
        code: 'FORBIDDEN',
        message:
          "the service's setting `DB_PASS` cannot be read: user tester has no permission to get secrets " +
          '`testops-testops` in namespace `testops` of the cluster of context `test`',
        suggestions: ['kubectl --context test auth can-i get secrets/testops-testops -n testops'],
      })
    },
  )
})
