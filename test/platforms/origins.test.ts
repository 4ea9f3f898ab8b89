import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Container } from '../../src/platforms/compose/containers.ts'
import type { RunningContainer } from '../../src/platforms/compose/service.ts'
import { originsOf as ofContainers } from '../../src/platforms/compose/service.ts'
import { originsOf as ofProcesses } from '../../src/platforms/host/service.ts'
import type { Pod } from '../../src/platforms/kubernetes/objects.ts'
import { originsOf as ofPods } from '../../src/platforms/kubernetes/pods.ts'

/**
 * A process that connects to that address, and how the server sees it. `inChild`: a process that it has started does.
 */
async function connected(host: string, inChild: boolean): Promise<{ pid: number; socket: Socket; port: number }> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const connect = `require('net').connect(${port}, '${host}'); setInterval(() => {}, 1000)`
  const code = inChild
    ? `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(connect)}]); setInterval(() => ` +
      '{}, 1000)'
    : connect
  const child = spawn(process.execPath, ['-e', code], { stdio: 'ignore', detached: true })
  const [socket] = (await once(server, 'connection')) as [Socket]
  onTestFinished(() => {
    process.kill(-child.pid!, 'SIGKILL')
    socket.destroy()
    server.close()
  })
  return { pid: child.pid!, socket, port }
}

describe('connections of a process of this machine', () => {
  test.each([
    ['127.0.0.1', false],
    ['127.0.0.1', true],
    ['::1', false],
  ] as const)('to %s are told as the server sees them (by a child: %s)', async (host, inChild) => {
    const { pid, socket, port } = await connected(host, inChild)
    // that of another process, which is not told
    await connected(host, false)
    const origins = await ofProcesses([{ name: 'testops.service', host: 'app-1', pid, startedAt: null }])
    expect(origins).toEqual([{ instance: 'testops.service', address: host, port: socket.remotePort, to: port }])
  })

  test('that is gone, or has no number, are not known', async () => {
    expect(await ofProcesses([{ name: 'x', host: 'h', pid: 2 ** 22 - 3, startedAt: null }])).toBe(null)
    expect(await ofProcesses([{ name: 'x', host: 'h', pid: null, startedAt: null }])).toBe(null)
    expect(await ofProcesses([])).toEqual([])
  })
})

const id = '0123456789abcdef'.repeat(4)
const container = (networkMode: string): Container =>
  ({
    id,
    name: 'testops-1',
    networkMode,
    networks: [
      { name: 'n', address: '172.20.0.5', aliases: [] },
      { name: 'none', address: '', aliases: [] },
    ],
  }) as unknown as Container
const itself = { id, hostname: '0123456789ab', networkMode: 'testops_default', runsPrograms: false }

test.each<[networkMode: string, known: boolean]>([
  ['testops_default', true],
  ['bridge', true],
  ['host', false],
  ['container:0123', false],
  ['service:proxy', false],
])('a container in the network %s has an address of its own: %s', (networkMode, known) => {
  expect(ofContainers([container(networkMode)], [itself])).toEqual(
    known ? [{ instance: 'testops-1', address: '172.20.0.5', port: null, to: null }] : null,
  )
})

test.each<[what: string, all: readonly RunningContainer[], shared: boolean]>([
  [
    'another container in the default network',
    [itself, { ...itself, id: 'f'.repeat(64), networkMode: 'bridge' }],
    false,
  ],
  [
    'another container in the network of another',
    [itself, { ...itself, id: 'f'.repeat(64), networkMode: `container:${'e'.repeat(64)}` }],
    false,
  ],
  [
    'another container in its network, by its id',
    [itself, { ...itself, id: 'f'.repeat(64), networkMode: `container:${id}` }],
    true,
  ],
  [
    'another container in its network, by the beginning of its id',
    [itself, { ...itself, id: 'f'.repeat(64), networkMode: `container:${id.slice(0, 12)}` }],
    true,
  ],
  [
    'another container in its network, by its name',
    [itself, { ...itself, id: 'f'.repeat(64), networkMode: 'container:testops-1' }],
    true,
  ],
  ['a program that somebody runs in it', [{ ...itself, runsPrograms: true }], true],
])('the address of a container is shared with %s: %s', (_, all, shared) => {
  expect(ofContainers([container('testops_default')], all)?.map((it) => it.shared === true)).toEqual([shared])
})

describe('addresses of pods', () => {
  const container = { name: 'testops', image: 'registry.example.org/testops:1' }
  const pod = (of: Partial<Pod> & { hostNetwork?: boolean } = {}): Pod => ({
    metadata: { name: 'testops-1' },
    spec: { containers: [container], ...(of.hostNetwork !== undefined && { hostNetwork: of.hostNetwork }) },
    status: {
      phase: 'Running',
      podIP: '10.0.0.7',
      podIPs: [{ ip: '10.0.0.7' }, { ip: 'FD00::7' }],
      containerStatuses: [{ name: 'testops', state: { running: {} } }],
      ...of.status,
    },
  })

  test('are those of whatever runs in them', () => {
    expect(ofPods([pod()])).toEqual([
      { instance: 'testops-1', address: '10.0.0.7', port: null, to: null, shared: true },
      { instance: 'testops-1', address: 'fd00::7', port: null, to: null, shared: true },
    ])
  })

  test('are those of the node where they use its network', () => {
    expect(ofPods([pod(), pod({ hostNetwork: true })])).toBe(null)
  })

  test('of which none runs are none', () => {
    expect(ofPods([pod({ status: { phase: 'Succeeded' } })])).toEqual([])
  })
})
