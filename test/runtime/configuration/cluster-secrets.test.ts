import { describe, expect, it } from 'vitest'
import { secretReader } from '../../../src/runtime/configuration/secrets.ts'
import { loadConfiguration } from '../../../src/runtime/index.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { startCluster, told } from '../../platforms/kubernetes/cluster.ts'
import { folderWith } from '../folder.ts'

const at = 'testops-admin.yaml:4'
const data = (text: string): string => Buffer.from(text).toString('base64')

async function read(
  name: string,
  prepare: (world: Cluster) => void = () => undefined,
  namespace: string | null = null,
) {
  const { cluster, environment } = await startCluster()
  cluster.load('secrets', {
    metadata: { name: 'own', namespace: 'quality' },
    data: { token: data('of quality\n'), lines: data('a\nb\n'), empty: '' },
  })
  prepare(cluster)
  const fetch = secretReader({ environment, timeoutMs: 2000, cluster: { context: null, namespace, release: null } })
  return fetch({ at, form: 'kubernetesSecret', name })
}

describe('a secret of the cluster', () => {
  it.each([
    ["in the context's namespace", 'testops-testops/testopsDbPass', null, 'db-secret'],
    ['in the configured namespace, without the end of its line', 'own/token', 'quality', 'of quality'],
    ['in a namespace that is named', 'quality/own/token', null, 'of quality'],
  ])('%s', async (_, name, namespace, expected) => {
    expect((await read(name, undefined, namespace)).reveal()).toBe(expected)
  })

  it.each<[string, string, string, string[], ((world: Cluster) => void)?]>([
    [
      'a key that there is not',
      'testops-testops/testopsDbPas',
      'missing: the Secret `testops-testops/testopsDbPas` of the cluster cannot be read: the Secret ' +
        '`testops-testops` in namespace `testops` of the cluster of context `test` has no key `testopsDbPas`',
      [
        'did you mean testopsDbPass or testopsDbUser?',
        'kubectl --context test -n testops describe secret testops-testops',
      ],
    ],
    [
      'a Secret that there is not',
      'gone/key',
      'missing: the Secret `gone/key` of the cluster cannot be read: the cluster of context `test` has no ' +
        'secrets `gone` in namespace `testops`',
      ['kubectl --context test get secrets -n testops'],
    ],
    [
      'a right that is missing',
      'testops-testops/testopsDbPass',
      'missing: the Secret `testops-testops/testopsDbPass` of the cluster cannot be read: user tester has no ' +
        'permission to get secrets `testops-testops` in namespace `testops` of the cluster of context `test`',
      ['kubectl --context test auth can-i get secrets/testops-testops -n testops'],
      (world) => void world.forbidden.push({ resource: 'secrets' }),
    ],
    [
      'several lines',
      'quality/own/lines',
      'cannot be used: the Secret `quality/own/lines` of the cluster contains 2 lines, but a secret must be one line',
      ['kubectl describe secret own'],
    ],
    [
      'nothing',
      'quality/own/empty',
      'missing: the Secret `quality/own/empty` of the cluster is empty',
      ['kubectl describe secret own'],
    ],
  ])('%s is told', async (_, name, message, suggestions, prepare) => {
    expect(await told(read(name, prepare))).toEqual({
      code: 'SECRET_MISSING',
      message: `the secret at ${at} ${message.startsWith('missing') ? 'is ' : ''}${message}`,
      suggestions,
    })
  })

  it('that is written otherwise is an error of the configuration', async () => {
    const workingDirectory = await folderWith({
      'testops-admin.yaml': 'deployments:\n  prod:\n    apiToken: {kubernetesSecret: token}\n',
    })
    const { code, message } = await told(loadConfiguration({ environment: {}, workingDirectory }))
    expect([code, message.replace(/^.* at /, '')]).toEqual([
      'CONFIGURATION',
      'testops-admin.yaml:3 must name a key of a Secret: NAME/KEY, or NAMESPACE/NAME/KEY',
    ])
  })
})
