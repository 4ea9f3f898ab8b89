import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findReleases } from '../../../src/platforms/kubernetes/finder.ts'
import { recordedCluster } from '../../kubernetes/cluster.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import { passingFolder } from '../../support/passing-folder.ts'
import { startCluster } from './cluster.ts'

async function found(prepare: (world: Cluster) => void): Promise<unknown> {
  const { cluster: world, environment } = await startCluster()
  prepare(world)
  return findReleases({ timeoutMs: 3000, environment, folder: '/' })
}

/** The recorded deployment once more, elsewhere. */
function alsoIn(world: Cluster, namespace: string): void {
  const [recorded] = recordedCluster().deployments
  if (!recorded) throw new Error('nothing is recorded')
  recorded.metadata = { ...recorded.metadata, namespace, uid: `uid-in-${namespace}` }
  world.load('deployments', recorded)
}
const gone = (world: Cluster): void =>
  world.remove('deployments', { metadata: { name: 'testops-testops', namespace: 'testops' } })
const image = 'registry.example.org/testops/testops:526u03'
const release = (namespace: string, name: string): object => ({
  name,
  what:
    `Deployment \`testops-testops\` in namespace \`${namespace}\` of the cluster of context \`test\` (image ` +
    `${image})`,
  place: { platform: 'kubernetes', context: 'test', namespace, release: 'testops' },
})

describe('releases are found without a configuration', () => {
  it.each<[string, (world: Cluster) => void, object[]]>([
    ["in the context's namespace", () => undefined, [release('testops', 'testops')]],
    [
      "in the context's namespace before all others",
      (world) => alsoIn(world, 'staging'),
      [release('testops', 'testops')],
    ],
    [
      'else in all',
      (world) => (gone(world), alsoIn(world, 'a'), alsoIn(world, 'b')),
      [release('a', 'a.testops'), release('b', 'b.testops')],
    ],
  ])('%s', async (_, prepare, wanted) => {
    expect(await found(prepare)).toMatchObject({ found: wanted })
  })

  it('none', async () => {
    expect(await found(gone)).toEqual({
      found: [],
      looked:
        'the cluster of context `test` has no workload with the image `testops` or `testops-legacy` in any namespace',
    })
  })

  it('none where it may be seen: that there may be others is told', async () => {
    const unseen =
      'user tester has no permission to list deployments in all namespaces of the cluster of context `test`'
    expect(
      await found((world) => {
        gone(world)
        world.forbidden.push({ verb: 'list', namespace: null })
      }),
    ).toEqual({
      found: [],
      looked:
        `the cluster of context \`test\` has no workload with the image \`testops\` or \`testops-legacy\` in ` +
        `namespace \`testops\`; ${unseen}`,
      unseen,
    })
  })

  it('no cluster is known', async () => {
    const work = findReleases({
      timeoutMs: 3000,
      environment: { KUBECONFIG: '/nowhere/config', HOME: '/nowhere' },
      folder: '/',
    })
    expect(await work).toEqual({ found: [], looked: expect.stringContaining('/nowhere/config') as string })
  })

  it.each<[what: string, text: string | null, code: string, message: RegExp]>([
    ['is broken', 'apiVersion: v1\nclusters: [', 'CONFIGURATION', /config:\d+ is not a valid kubectl configuration: /],
    [
      'leads nowhere',
      'apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: gone, user: u}}]\n',
      'CONFIGURATION',
      /^the context `a` in .* is invalid: /,
    ],
    ['is a folder', null, 'UNAVAILABLE', / cannot be read: /],
  ])(
    'a configuration of kubectl that %s is a failure, and not that nothing is there',
    async (_, text, code, message) => {
      const folder = await passingFolder()
      const file = join(folder, 'config')
      await (text === null ? mkdir(file) : writeFile(file, text, { mode: 0o600 }))
      const search = await findReleases({
        timeoutMs: 3000,
        environment: { KUBECONFIG: file, HOME: folder },
        folder: '/',
      })
      expect([search.found, search.failure?.code, search.failure?.message]).toEqual([
        [],
        code,
        expect.stringMatching(message),
      ])
      expect(search.unseen).toBe(search.failure?.message)
    },
  )

  it.each<[string, (world: Cluster) => void, string, RegExp]>([
    [
      'refuses its token',
      (world) => world.users.clear(),
      'UNAUTHENTICATED',
      /^the cluster of context `test` rejects the credentials of /,
    ],
    [
      'may not be asked',
      (world) => void world.forbidden.push({ verb: 'list' }),
      'FORBIDDEN',
      /^user tester has no permission to list /,
    ],
  ])('a cluster that %s is a failure, and not that nothing is there', async (_, prepare, code, message) => {
    const search = (await found(prepare)) as {
      found: unknown[]
      unseen: string
      failure: { code: string; message: string }
    }
    expect([search.found, search.failure.code, search.failure.message]).toEqual([
      [],
      code,
      expect.stringMatching(message),
    ])
    expect(search.unseen).toBe(search.failure.message)
  })
})
