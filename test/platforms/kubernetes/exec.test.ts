import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { execIn, MissingProgram } from '../../../src/platforms/kubernetes/exec.ts'
import type { KubernetesClient } from '../../../src/platforms/kubernetes/client.ts'
import type { Cluster, Rule } from '../../kubernetes/cluster.ts'
import { localPrograms } from '../../kubernetes/exec.ts'
import { clientFor, startCluster, told } from './cluster.ts'

const place = { namespace: 'testops', pod: 'testops-testops-8c5b7486b-5dvgm', container: 'testops-testops' }

async function world(
  prepare: (cluster: Cluster) => void = () => undefined,
): Promise<{ cluster: Cluster; client: KubernetesClient; asked: () => string[] }> {
  const { cluster, server, environment } = await startCluster()
  cluster.isFrozen = true
  cluster.hooks.exec = localPrograms('sh', 'cat')
  prepare(cluster)
  return {
    cluster,
    client: await clientFor(environment),
    asked: () => server.requests.filter((it) => it.includes('/exec')),
  }
}

describe('a program in a pod', () => {
  it.each(['v5.channel.k8s.io', 'v4.channel.k8s.io'])('gives its output and its exit code (%s)', async (protocol) => {
    const { client, asked } = await world((cluster) => void (cluster.execProtocols = [protocol]))
    const command = ['sh', '-c', 'echo "$1"; echo trouble >&2; exit 3', 'sh', 'a b&c']
    expect(await execIn(client, place, command, { timeoutMs: 10_000 })).toEqual({
      exitCode: 3,
      stdout: 'a b&c\n',
      stderr: 'trouble\n',
    })
    const { searchParams } = new URL(asked()[0]!.replace('GET ', 'http://x'))
    expect([searchParams.getAll('command'), searchParams.get('container'), searchParams.get('stdin')]).toEqual([
      command,
      'testops-testops',
      null,
    ])
  })

  it('may print much, and is stopped where it is too much', async () => {
    const { client } = await world()
    const much = ['sh', '-c', 'head -c 3000000 /dev/zero | tr "\\0" x']
    expect((await execIn(client, place, much, { timeoutMs: 20_000, maxBytes: 3_000_000 })).stdout).toHaveLength(
      3_000_000,
    )
    expect(await told(execIn(client, place, much, { timeoutMs: 20_000, maxBytes: 2_999_999 }))).toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      message: expect.stringContaining('prints more than 2999999 bytes') as string,
    })
  })

  it('that hangs is given up after its time, or when the operator wants no more', async () => {
    const { client, cluster } = await world()
    const hanging = ['sh', '-c', 'echo begun; exec sleep 600']
    expect(await told(execIn(client, place, ['sh', '-c', 'exec sleep 600'], { timeoutMs: 300 }))).toEqual({
      code: 'TIMED_OUT',
      message: "`sh -c 'exec sleep 600'` in pod `testops-testops-8c5b7486b-5dvgm` did not finish within 0.3 s",
      suggestions: [
        'kubectl --context test -n testops exec testops-testops-8c5b7486b-5dvgm -c testops-testops -- sh -c ' +
          "'exec sleep 600'",
      ],
    })
    const stop = new AbortController()
    const running = execIn(client, place, hanging, { timeoutMs: 60_000, signal: stop.signal })
    running.catch(() => undefined)
    await expect.poll(() => cluster.programs.size, { timeout: 10_000 }).toBe(2)
    stop.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    await expect(execIn(client, place, hanging, { timeoutMs: 60_000, signal: stop.signal })).rejects.toThrow('enough')
  })

  it('that its image does not have is told apart from one that fails', async () => {
    const { client } = await world()
    const missing = execIn(client, place, ['getent', 'hosts', 'x'], { timeoutMs: 10_000 })
    await expect(missing).rejects.toBeInstanceOf(MissingProgram)
    expect(await told(missing)).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'the image of container `testops-testops` of pod `testops-testops-8c5b7486b-5dvgm` has no `getent`',
    })
  })

  // as runtimes behind dockershim and CRI-O say it
  it.each([
    [
      'OCI runtime exec failed: exec failed: unable to start container process: exec: "getent": executable ' +
        'file not found in $PATH: unknown',
      126,
    ],
    [
      'exec failed: container_linux.go:348: starting container process caused "exec: \\"/bin/bash\\": stat ' +
        '/bin/bash: no such file or directory": executable file',
      127,
    ],
    ['executable file `getent` not found in $PATH: No such file or directory', 127],
  ])('that a runtime cannot find: %s', async (said, code) => {
    const { client } = await world(
      (cluster) =>
        void (cluster.hooks.exec = () => spawn('sh', ['-c', 'echo "$1" >&2; exit "$2"', 'sh', said, String(code)])),
    )
    await expect(execIn(client, place, ['getent'], { timeoutMs: 10_000 })).rejects.toBeInstanceOf(MissingProgram)
  })

  it('whose stream breaks in the middle is no success', async () => {
    const { client, cluster } = await world()
    const running = execIn(client, place, ['sh', '-c', 'echo a; exec sleep 600'], { timeoutMs: 60_000 })
    running.catch(() => undefined)
    await expect.poll(() => cluster.programs.size, { timeout: 10_000 }).toBe(1)
    cluster.streams.forEach((it) => it.destroy())
    expect(await told(running)).toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringMatching(
        /^the stream of `sh -c 'echo a; exec sleep 600'` in pod `[^`]*` broke: /,
      ) as string,
    })
  })
})

describe('nothing is run', () => {
  const attempt = async (prepare: (cluster: Cluster) => void, of: Partial<typeof place> = {}) => {
    const { client } = await world(prepare)
    return told(execIn(client, { ...place, ...of }, ['cat', '/proc/cpuinfo'], { timeoutMs: 10_000 }))
  }
  const forbid = (rule: Rule) => (cluster: Cluster) => void cluster.forbidden.push(rule)

  it.each([
    [
      'where that is forbidden',
      forbid({ resource: 'pods/exec' }),
      {},
      'FORBIDDEN',
      'user tester has no permission to create pods/exec `testops-testops-8c5b7486b-5dvgm` in namespace ' +
        '`testops` of the cluster of context `test`',
    ],
    [
      'in a pod that is gone',
      () => undefined,
      { pod: 'gone-1' },
      'UNAVAILABLE',
      'the cluster of context `test` has no pods/exec `gone-1` in namespace `testops`',
    ],
    [
      'in a container that is not there',
      () => undefined,
      { container: 'nope' },
      'UNEXPECTED_ANSWER',
      'the cluster of context `test` refuses to create pods/exec `testops-testops-8c5b7486b-5dvgm` in ' +
        'namespace `testops` (HTTP 400): container nope is not valid for pod testops-testops-8c5b7486b-5dvgm',
    ],
    [
      'in a container that waits to be started again',
      (cluster: Cluster) =>
        void cluster.pods.forEach(({ status }) =>
          status.containerStatuses?.forEach((it) => (it.state = { waiting: { reason: 'CrashLoopBackOff' } })),
        ),
      {},
      'UNAVAILABLE',
      'container `testops-testops` of pod `testops-testops-8c5b7486b-5dvgm` is not running',
    ],
  ])('%s', async (_, prepare, of, code, message) => {
    expect(await attempt(prepare, of)).toMatchObject({ code, message })
  })

  it('where the server answers with something else', async () => {
    const { client, cluster } = await world()
    cluster.hooks.exec = () => {
      throw new Error('not asked')
    }
    cluster.users.clear()
    expect(await told(execIn(client, place, ['cat'], { timeoutMs: 10_000 }))).toMatchObject({ code: 'UNAUTHENTICATED' })
  })
})
