import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { env, execPath } from 'node:process'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { HostPort } from '../../../src/core/endpoint.ts'
import { openKubernetes } from '../../../src/platforms/kubernetes/index.ts'
import type { Platform, RelayWish } from '../../../src/platforms/platform.ts'
import type { Cluster } from '../../kubernetes/cluster.ts'
import type { ExecCall } from '../../kubernetes/exec.ts'
import type { Pod } from '../../kubernetes/resources.ts'
import { errorOf } from '../../adapters/failure-of.ts'
import { closedPort } from '../../adapters/peers.ts'
import { startCluster, told } from './cluster.ts'

/** resolves nowhere; in the place of pods it is this machine */
const outside = 'db.corp.invalid'

/** What an image has, as links to this machine's own programs. */
async function image(...programs: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-image-'))
  onTestFinished(async () => rm(folder, { recursive: true }))
  for (const name of programs) {
    if (name === 'nc') await writeFile(join(folder, name), netcat, { mode: 0o755 })
    else await symlink(await pathOf(name), join(folder, name))
  }
  return folder
}

async function pathOf(program: string): Promise<string> {
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, program)
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path
  }
  throw new Error(`this machine has no ${program}`)
}

/** As BusyBox's is called, and ends. */
const netcat = `#!${execPath}
const words = process.argv.slice(2)
const [host, port] = words.slice(-2)
const socket = require('node:net').connect({ host, port, allowHalfOpen: true })
socket.once('error', (error) => { console.error('nc: ' + error.message); process.exit(1) })
socket.once('connect', () => {
  if (words[0] === '-z') return process.exit(0)
  process.stdin.pipe(socket)
  socket.pipe(process.stdout)
  socket.once('end', () => { process.stdin.destroy(); socket.destroy() })
})`

interface World {
  cluster: Cluster
  platform: Platform
  told: string[]
}

async function world(imageOf: (call: ExecCall) => string, wish: Partial<RelayWish> = {}): Promise<World> {
  const { cluster, environment } = await startCluster()
  cluster.isFrozen = true
  cluster.hooks.exec = (call) => {
    const folder = imageOf(call)
    const [program = '', ...words] = call.command.map((word) => (word === outside ? '127.0.0.1' : word))
    const shell = program === 'sh' && folder !== '' ? '/bin/sh' : program === 'sleep' ? '/bin/sleep' : null
    return shell === null ? null : spawn(shell, words, { env: { PATH: folder } })
  }
  const said: string[] = []
  const relay: RelayWish = { mayMakePods: true, isLasting: false, tell: (message) => void said.push(message), ...wish }
  const platform = await openKubernetes(
    { context: null, namespace: null, release: null },
    { timeoutMs: 10_000, environment, relay },
  )
  onTestFinished(async () => platform.close())
  return { cluster, platform, told: said }
}

async function listening(treat: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined)
    treat(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

async function reached(platform: Platform, port: number): Promise<HostPort> {
  const way = await platform.reach({ host: outside, port })
  if (way === null) throw new Error('it is reached as it is')
  onTestFinished(async () => way.close())
  return way.source
}

function client(at: HostPort): Socket {
  const socket = connect({ host: at.host, port: at.port, allowHalfOpen: true })
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Answers once the other side has said all. */
function countAll(socket: Socket): void {
  let length = 0
  socket.on('data', (bytes) => (length += bytes.length))
  socket.on('end', () => socket.end(`${length} bytes`))
}

const ourPods = (cluster: Cluster): string[] =>
  cluster.pods.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('testops-admin-relay-'))

describe.each([[['perl', 'bash', 'cat']], [['bash', 'cat', 'sleep']], [['nc']]])('an image with %j', (programs) => {
  it('carries several connections at once, as they are', async () => {
    const folder = await image(...programs)
    const { cluster, platform } = await world(() => folder)
    const at = await reached(platform, await listening((socket) => socket.pipe(socket)))
    const sent = [1, 2, 3].map((seed) =>
      Buffer.alloc(2_000_000, Buffer.from([...Array(251).keys()].map((it) => (it * seed) % 256))),
    )
    const sockets = sent.map(() => client(at))
    const got = await Promise.all(
      sockets.map(async (socket, index) => {
        socket.write(sent[index]!)
        const parts: Buffer[] = []
        for await (const bytes of socket as AsyncIterable<Buffer>) {
          parts.push(bytes)
          if (parts.reduce((sum, it) => sum + it.length, 0) >= sent[index]!.length) break
        }
        return Buffer.concat(parts)
      }),
    )
    expect(got.map((it, index) => it.equals(sent[index]!))).toEqual([true, true, true])
    expect(ourPods(cluster)).toEqual([])
    sockets.forEach((it) => it.destroy())
  })

  it('passes on that the server has ended it', async () => {
    const folder = await image(...programs)
    const { cluster, platform } = await world(() => folder)
    const at = await reached(platform, await listening((socket) => socket.end('good-bye')))
    expect(String(await buffer(client(at)))).toBe('good-bye')
    await expect.poll(() => cluster.programs.size, { timeout: 10_000 }).toBe(0)
  })

  it('says where the cluster does not reach it either', async () => {
    const folder = await image(...programs)
    const { platform } = await world(() => folder)
    const port = await closedPort()
    expect(await told(platform.reach({ host: outside, port }))).toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringMatching(
        /^db\.corp\.invalid:\d+ cannot be reached from pod `testops-testops-[^`]*`: .*refused/i,
      ) as string,
    })
  })
})

it('that a client has said all is passed on, where the program can', async () => {
  const folder = await image('perl')
  const { platform } = await world(() => folder)
  const at = await reached(platform, await listening(countAll))
  const socket = client(at)
  socket.end(Buffer.alloc(300_000))
  expect(String(await buffer(socket))).toBe('300000 bytes')
})

it('what this machine reaches is reached as it is', async () => {
  const { cluster, platform } = await world(() => '')
  const port = await listening((socket) => socket.end())
  cluster.load('services', {
    metadata: { name: 'db', namespace: 'testops' },
    spec: { type: 'ExternalName', externalName: 'localhost' },
  })
  expect((await platform.reach({ host: 'db', port }))?.source).toEqual({ host: 'localhost', port, command: null })
  expect(cluster.asked).not.toContain('create pods/exec')
})

describe('a pod is made', () => {
  const isOurs = ({ pod }: ExecCall): boolean => pod.metadata.name.startsWith('testops-admin-')

  it('where the image of the service has no shell, shared by all ways, and removed with them', async () => {
    const folder = await image('perl')
    const { cluster, platform, told: said } = await world((call) => (isOurs(call) ? folder : ''))
    const first = await reached(platform, await listening((socket) => socket.end('one')))
    const second = await reached(platform, await listening((socket) => socket.end('two')))
    expect([
      String(await buffer(client(first))),
      String(await buffer(client(second))),
      ourPods(cluster).length,
    ]).toEqual(['one', 'two', 1])
    await platform.close()
    expect([ourPods(cluster), said]).toEqual([[], []])
  })

  it('where it has to last, whatever the service could carry', async () => {
    const folder = await image('perl')
    const { cluster, platform } = await world(() => folder, { isLasting: true })
    const at = await reached(platform, await listening((socket) => socket.pipe(socket)))
    expect(ourPods(cluster)).toHaveLength(1)
    for (const pod of cluster.pods) if (!ourPods(cluster).includes(pod.metadata.name)) cluster.remove('pods', pod)
    const socket = client(at)
    socket.write('still here')
    expect(String((await once(socket, 'data'))[0])).toBe('still here')
  })

  it('again, where somebody has removed it', async () => {
    const folder = await image('perl')
    const { cluster, platform } = await world(() => folder, { isLasting: true })
    const at = await reached(platform, await listening((socket) => socket.end('hello')))
    await buffer(client(at))
    for (const pod of cluster.pods) if (ourPods(cluster).includes(pod.metadata.name)) cluster.remove('pods', pod)
    expect(String(await buffer(client(at)))).toBe('hello')
    expect(ourPods(cluster)).toHaveLength(1)
  })

  it('on another node, where the first takes no more pods', async () => {
    const folder = await image('perl')
    const { cluster, platform } = await world(() => folder, { isLasting: true })
    const full = cluster.pods[0]!.spec.nodeName
    const elsewhere = cluster.list('nodes').find(({ metadata }) => metadata.name !== full)!
    const first = cluster.list('nodes').find(({ metadata }) => metadata.name === full)!
    cluster.update(
      'nodes',
      elsewhere,
      (it) => void Object.assign(it['status'] as object, { images: (first['status'] as { images: unknown }).images }),
    )
    const tried: string[] = []
    cluster.changes.on('change', ({ type, object: pod }: { type: string; object: Pod }) => {
      if (!pod.metadata.name.startsWith('testops-admin-') || type === 'DELETED') return
      if (type === 'ADDED') tried.push(pod.spec.nodeName!)
      if (pod.spec.nodeName === full && pod.status.phase !== 'Failed')
        cluster.update(
          'pods',
          pod,
          (it) =>
            void (it['status'] = {
              phase: 'Failed',
              reason: 'OutOfpods',
              message: 'Node did not have enough resource: pods',
            }),
        )
    })
    const at = await reached(platform, await listening((socket) => socket.end('hello')))
    expect([String(await buffer(client(at))), tried]).toEqual(['hello', [full, elsewhere.metadata.name]])
  })

  it('by no one who may change nothing', async () => {
    const { cluster, platform } = await world(() => '', { mayMakePods: false })
    const port = await closedPort()
    expect(await told(platform.reach({ host: outside, port }))).toMatchObject({
      code: 'REFUSED',
      message: 'no pod of the service can relay a connection, and this command must not create a pod',
    })
    expect(ourPods(cluster)).toEqual([])
  })

  it('of images that are tried one after the other, and none is left', async () => {
    const folder = await image()
    const { cluster, platform } = await world((call) => (isOurs(call) ? folder : ''))
    const port = await closedPort()
    expect(await told(platform.reach({ host: outside, port }))).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(
        new RegExp(
          '^cannot relay the connection through a new pod: the last attempt failed: ' +
            'the image of container `main` of pod `testops-admin-relay-\\w+` lacks perl, bash and nc$',
        ),
      ) as string,
    })
    expect(ourPods(cluster)).toEqual([])
  })
})

it('what is no name of a host is refused before anything is run', async () => {
  const { cluster, platform } = await world(() => '')
  expect(await told(platform.reach({ host: '$(id).example.org', port: 5432 }))).toMatchObject({
    code: 'CONFIGURATION',
    message: '$(id).example.org:5432 is not an address that a pod can reach',
  })
  expect(cluster.asked).not.toContain('create pods/exec')
})

describe('pods whose kubelets are out of reach', () => {
  const hide = (cluster: Cluster, ...nodes: string[]): void => nodes.forEach((it) => cluster.hiddenNodes.add(it))
  const nodesOf = (cluster: Cluster): string[] => cluster.list('nodes').map(({ metadata }) => metadata.name)

  it('are passed over, and another carries the connection', async () => {
    const folder = await image('bash', 'cat', 'sleep')
    const { cluster, platform } = await world(() => folder)
    const own = cluster.pods.filter(({ metadata }) => metadata.name.startsWith('testops-testops-'))
    own.forEach((pod, index) =>
      cluster.update('pods', pod, (it) => void ((it as Pod).spec.nodeName = nodesOf(cluster)[index]!)),
    )
    hide(cluster, nodesOf(cluster)[0]!)
    const at = await reached(platform, await listening((socket) => socket.end('good-bye')))
    expect(String(await buffer(client(at)))).toBe('good-bye')
  })

  it.each([true, false])('say nothing of the server; pods of our own may be made: %s', async (mayMakePods) => {
    const folder = await image('bash', 'cat', 'sleep')
    const { cluster, platform } = await world(() => folder, { mayMakePods })
    hide(cluster, ...nodesOf(cluster))
    const error = await errorOf(reached(platform, await listening((socket) => socket.end('good-bye'))))
    expect([error?.obstacle, ourPods(cluster)]).toEqual([{ kind: 'beyond' }, []])
  })
})
