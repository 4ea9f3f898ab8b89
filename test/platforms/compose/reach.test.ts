import { randomBytes } from 'node:crypto'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { composeWorld, recorded } from './world.ts'
import type { Shown } from './world.ts'

interface Case {
  host: string
  port: number
  redis?: (shown: Shown) => void
  own?: (shown: Shown) => void
  machine?: string
  reached: string | null
}

async function reachedFrom({ host, port, redis, own, machine }: Case): Promise<string | null> {
  const running = (shown: Shown): void => {
    shown.State['Status'] = 'running'
    redis?.(shown)
  }
  const containers = [await recorded('testops', own), await recorded('redis', running)]
  const world = await composeWorld({ containers, ...(machine !== undefined && { machine }) })
  const reached = await (await world.open()).reach({ host, port }).catch((error: Error) => error.message)
  return reached === null || typeof reached === 'string' ? reached : `${reached.source.host}:${reached.source.port}`
}

const published =
  (HostIp: string) =>
  (shown: Shown): void =>
    void (shown.NetworkSettings.Ports = { '6379/tcp': [{ HostIp, HostPort: '16379' }] })
const at =
  (IPAddress: string) =>
  (shown: Shown): void =>
    void (shown.NetworkSettings.Networks['testops_testops-net']!.IPAddress = IPAddress)
const refusal =
  'this machine cannot reach container `redis` at redis:6379. The container does not publish port 6379, and ' +
  'lacks nc, socat and bash'

test.each<[string, Case]>([
  ['a server outside of the project, as it is', { host: 'db.example.org', port: 5432, reached: null }],
  [
    'a published port, on this machine',
    { host: 'redis', port: 6379, redis: published('0.0.0.0'), reached: '127.0.0.1:16379' },
  ],
  [
    'a port that is published at one address',
    { host: 'redis', port: 6379, redis: published('10.0.0.7'), reached: '10.0.0.7:16379' },
  ],
  ["by a container's alias", { host: 'bc55fa7a2000', port: 6379, redis: published('::'), reached: '127.0.0.1:16379' }],
  [
    'of an engine in a virtual machine, only by published ports',
    { host: 'redis', port: 6379, redis: at('127.0.0.1'), machine: 'docker-desktop', reached: refusal },
  ],
  [
    'an address that nothing answers from',
    { host: 'redis', port: 6379, redis: at('255.255.255.255'), reached: refusal },
  ],
  ['a container without an address', { host: 'redis', port: 6379, redis: at(''), reached: refusal }],
  [
    'a container that does not run',
    {
      host: 'redis',
      port: 6379,
      redis: (it) => (it.State['Status'] = 'exited'),
      reached: 'container `redis` at redis:6379 is not running (exited, exit code 1)',
    },
  ],
  [
    'a container of another network is not meant',
    {
      host: 'redis',
      port: 6379,
      redis: (it) => (it.NetworkSettings.Networks = { other: { IPAddress: '10.1.0.2', Aliases: ['redis'] } }),
      reached: null,
    },
  ],
  [
    "this machine's own network, which the service shares",
    { host: 'localhost', port: 5432, own: (it) => (it.HostConfig.NetworkMode = 'host'), reached: null },
  ],
  [
    'the machine of the engine, by a name for it',
    {
      host: 'host.docker.internal',
      port: 5432,
      own: (it) => (it.HostConfig.ExtraHosts = ['host.docker.internal:host-gateway']),
      reached: '127.0.0.1:5432',
    },
  ],
  [
    'a name that the service was given an address for',
    { host: 'db', port: 5432, own: (it) => (it.HostConfig.ExtraHosts = ['db:10.9.8.7']), reached: '10.9.8.7:5432' },
  ],
])('%s', async (_, it) => {
  expect(await reachedFrom(it)).toBe(it.reached)
})

test("a container's own address, where this machine reaches it, whether or not something listens", async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  onTestFinished(() => void server.close())
  expect(await reachedFrom({ host: 'redis', port, redis: at('127.0.0.1'), reached: null })).toBe(`127.0.0.1:${port}`)
  expect(await reachedFrom({ host: 'redis', port: 1, redis: at('127.0.0.1'), reached: null })).toBe('127.0.0.1:1')
})

async function echoServer(): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket) => void socket.pipe(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** What comes back for what is sent; 'broken' where the connection was broken. */
async function echoed({ host, port }: { host: string; port: number }, sent: Buffer): Promise<Buffer | 'broken'> {
  const socket = connect({ host, port })
  onTestFinished(() => void socket.destroy())
  socket.write(sent)
  const received: Buffer[] = []
  try {
    for await (const bytes of socket) {
      received.push(bytes as Buffer)
      if (received.reduce((sum, it) => sum + it.length, 0) >= sent.length) break
    }
  } catch {
    return 'broken'
  }
  return Buffer.concat(received)
}

const here = (shown: Shown): void => {
  shown.State['Status'] = 'running'
  at('127.0.0.1')(shown)
}

test("the service's own container is found anew for each connection", async () => {
  const [before, after] = [await echoServer(), await echoServer()]
  const publishedAt =
    (port: number) =>
    (shown: Shown): void =>
      void (shown.NetworkSettings.Ports = { '8080/tcp': [{ HostIp: '', HostPort: String(port) }] })
  const world = await composeWorld({ containers: [await recorded('testops', publishedAt(before))] })
  const { source, close } = (await (await world.open()).reach({ host: 'testops', port: 8080 }))!
  onTestFinished(close)
  expect(await echoed(source, Buffer.from('one'))).toEqual(Buffer.from('one'))
  world.state.containers = [await recorded('testops', publishedAt(after))]
  expect(await echoed(source, Buffer.from('two'))).toEqual(Buffer.from('two'))
  world.state.containers = [await recorded('stopped')]
  expect(await echoed(source, Buffer.from('three'))).toBe('broken')
})

test('through a relay that is run in the container, where nothing else leads there', async () => {
  const port = await echoServer()
  const world = await composeWorld({
    containers: [await recorded('testops'), await recorded('redis', here)],
    machine: 'far',
    isHere: true,
  })
  const { source, close } = (await (await world.open()).reach({ host: 'redis', port }))!
  expect(source.command).toBe(`docker exec -it redis sh   # then connect to redis:${port}`)
  const large = randomBytes(3_000_000)
  const answers = await Promise.all([echoed(source, large), echoed(source, Buffer.from('small'))])
  expect([large.equals(answers[0] as Buffer), answers[1]]).toEqual([true, Buffer.from('small')])
  await close()
  const refused = (await (await world.open()).reach({ host: 'redis', port: 1 }))!
  onTestFinished(refused.close)
  expect(await echoed(refused.source, Buffer.from('x'))).toBe('broken')
})

test('rabbitmqctl is run in the container that the broker is, and in none where it is elsewhere', async () => {
  const containers = [await recorded('testops'), await recorded('redis', (it) => void (it.State['Status'] = 'running'))]
  const platform = await (await composeWorld({ containers })).open()
  const program = await platform.brokerProgram?.({ host: 'redis', port: 5672 })
  expect([program?.command, await platform.brokerProgram?.({ host: 'mq.example.org', port: 5672 })]).toEqual([
    ['docker', 'exec', 'redis', 'rabbitmqctl'],
    null,
  ])
})
