import { execFile, spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { kubernetesTools } from '../support/kubernetes-tools.ts'
import { localPrograms } from '../kubernetes/exec.ts'
import { testCertificate } from '../kubernetes/kubeconfig.ts'
import { kubeconfigFor } from '../kubernetes/passing-kubeconfig.ts'
import { startApiServer } from '../kubernetes/server.ts'
import type { ApiServer } from '../kubernetes/server.ts'

let kubectl: string

beforeAll(async () => {
  kubectl = (await kubernetesTools()).kubectl
}, 300_000)

async function atServer(): Promise<{
  server: ApiServer & { kubeconfig: string }
  run: (...words: string[]) => Promise<string>
}> {
  const server = await startApiServer(undefined, testCertificate())
  onTestFinished(async () => server.close())
  const kubeconfig = await kubeconfigFor(server.url)
  const environment = { KUBECONFIG: kubeconfig, HOME: dirname(kubeconfig) }
  const run = async (...words: string[]): Promise<string> => {
    const { stdout, stderr } = await promisify(execFile)(kubectl, words, { env: environment }).catch(
      (failed: { stdout: string; stderr: string }) => failed,
    )
    return (stdout + stderr).trimEnd()
  }
  return { server: Object.assign(server, { kubeconfig }), run }
}

/** That the test's API server is one to the program that operators use, which knows nothing of it. */
describe('the real kubectl at the test API server', () => {
  it('lists, changes, scales and is refused', async () => {
    const { server, run } = await atServer()
    const pods = JSON.parse(await run('get', 'pods', '-o', 'json')) as { items: { metadata: { name: string } }[] }
    expect(pods.items.map(({ metadata }) => metadata.name).sort()).toEqual(
      server.cluster.pods.map(({ metadata }) => metadata.name).sort(),
    )
    expect(await run('get', 'deployment', 'testops-testops', '-o', 'jsonpath={.spec.replicas}')).toBe('2')
    expect(await run('scale', 'deployment', 'testops-testops', '--replicas=0')).toBe(
      'deployment.apps/testops-testops scaled',
    )
    await expect
      .poll(async () => run('get', 'pods', '-l', 'app=testops-testops', '-o', 'name'), { timeout: 20_000 })
      .toBe('')
    expect(await run('annotate', 'deployment', 'testops-testops', 'a=b')).toBe(
      'deployment.apps/testops-testops annotated',
    )
    server.cluster.forbidden.push({ resource: 'secrets' })
    expect(await run('get', 'secret', 'testops-testops')).toMatch(
      new RegExp(
        String.raw`^Error from server \(Forbidden\): ` +
          'secrets "testops-testops" is forbidden: User "tester" cannot get resource "secrets"',
      ),
    )
    expect(await run('get', 'deployment', 'missing')).toBe(
      'Error from server (NotFound): deployments.apps "missing" not found',
    )
  })

  it('runs programs in pods, and hands them its input', async () => {
    const { server, run } = await atServer()
    server.cluster.hooks.exec = localPrograms('sh', 'cat')
    const pod = server.cluster.pods.find(({ metadata }) => metadata.name.startsWith('testops-testops'))!.metadata.name
    expect(
      await run('exec', pod, '-c', 'testops-testops', '--', 'sh', '-c', 'echo out; echo trouble >&2; exit 3'),
    ).toBe('out\ntrouble\ncommand terminated with exit code 3')
    expect(await run('exec', pod, '-c', 'testops-testops', '--', 'nope')).toMatch(
      /exec: "nope": executable file not found in \$PATH: unknown$/,
    )
    const fed = spawn(kubectl, ['exec', '-i', pod, '-c', 'testops-testops', '--', 'cat'], {
      env: { KUBECONFIG: server.kubeconfig, HOME: dirname(server.kubeconfig) },
    })
    fed.stdin.end('through and back')
    expect(await text(fed.stdout)).toBe('through and back')
    expect(server.requests.filter((it) => it.includes('/exec') && !it.startsWith('GET '))).toEqual([])
    server.cluster.forbidden.push({ resource: 'pods/exec' })
    expect(await run('exec', pod, '-c', 'testops-testops', '--', 'true')).toMatch(
      new RegExp(
        'pods "[^"]*" is forbidden: ' +
          String.raw`User "tester" cannot create resource "pods\/exec" in API group "" in the namespace "testops"`,
      ),
    )
  })

  it('reads logs', async () => {
    const { server, run } = await atServer()
    const [pod] = server.cluster.pods
    server.cluster.print(pod!.metadata.name, 'testops-testops', 'one line of it')
    expect((await run('logs', pod!.metadata.name, '--tail=1')).split('\n').at(-1)).toBe('one line of it')
  })

  it('follows logs', async () => {
    const { server } = await atServer()
    const pod = server.cluster.pods.find(({ metadata }) => metadata.name.startsWith('testops-testops'))!.metadata.name
    server.cluster.print(pod, 'testops-testops', 'long ago', { at: '2026-11-21T02:37:04.999999999Z' })
    server.cluster.print(pod, 'testops-testops', 'of that second', { at: '2026-11-21T02:37:05.100000000Z' })
    const words = ['logs', '--follow', '--since-time=2026-11-21T02:37:05.5Z', pod, '-c', 'testops-testops']
    const following = spawn(kubectl, words, {
      env: { KUBECONFIG: server.kubeconfig, HOME: dirname(server.kubeconfig) },
    })
    onTestFinished(() => void following.kill('SIGKILL'))
    let printed = ''
    following.stdout.on('data', (bytes: Buffer) => (printed += bytes.toString()))
    await expect.poll(() => printed, { timeout: 20_000 }).toBe('of that second\n')
    server.cluster.print(pod, 'testops-testops', 'just now')
    await expect.poll(() => printed, { timeout: 20_000 }).toBe('of that second\njust now\n')
    server.cluster.remove('pods', server.cluster.get('pods', 'testops', pod))
    await expect.poll(() => following.exitCode, { timeout: 20_000 }).toBe(0)
  })
})
