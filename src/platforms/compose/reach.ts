import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import type { HostPort, Opened, Way } from '../../core/endpoint.ts'
import { AdminError, codeOf } from '../../core/error.ts'
import { isLoopback } from '../../core/host.ts'
import { typed } from '../../core/typed.ts'
import type { Container } from './containers.ts'
import { runs } from './status.ts'
import type { View } from './view.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import type { Engine } from './engine.ts'
import type { Socket } from 'node:net'
import { listenHere } from '../listen.ts'

/**
 * Script that relays standard input and output to an address, with programs found in images: `sh -c RELAY sh HOST
 * PORT`. It ends when either side does: an engine does not stop what it runs in a container when its client goes. It
 * leaves no process whose end the container's first process would see. PostgreSQL takes one that a signal ended for a
 * crashed backend, and ends all others (postmaster.c, CleanupBackend). `nc` comes last: BusyBox's, in images without
 * bash, passes on the end of its input. Others hold the connection until the server ends it (nc(1), -N).
 */
const relay = `
if command -v socat >/dev/null; then exec socat - "TCP:$1:$2"; fi
if ! command -v bash >/dev/null; then exec nc "$1" "$2"; fi
exec bash -c '
  exec 3<>"/dev/tcp/$1/$2" 4<&0 || exit 1
  cat <&4 >&3 & to=$!
  cat <&3 & from=$!
  wait -n
  kill -0 $from 2>/dev/null && sleep 1
  kill $to $from 2>/dev/null
  wait
  exit 0' bash "$1" "$2"
`

/** True if a container has a program that a relay needs. Throws if the engine cannot be asked. */
async function canRelay(engine: Engine, { name }: Container): Promise<boolean> {
  const { exitCode } = await engine.ask([
    'exec',
    name,
    'sh',
    '-c',
    'command -v socat || command -v bash || command -v nc',
  ])
  return exitCode === 0
}

/**
 * Connects to a port of a container from within it. Uses the container's own address if it has one: servers trust a
 * loopback address more.
 */
function relayTo(engine: Engine, { name, networks }: Container, port: HostPort['port']): Duplex {
  const host = networks.find(({ address }) => address !== '')?.address ?? '127.0.0.1'
  return engine.stream(['exec', '--interactive', name, 'sh', '-c', relay, 'sh', host, String(port)])
}

type Around = Pick<View, 'engine' | 'containers'> & { timeoutMs: number }

/** Where a container's port can be reached. */
type Access = { at: HostPort } | { within: Container }

/** Milliseconds to try a container's own address: it is on this machine, or out of reach */
const nearMs = 1500

/**
 * Opens the way from this machine to an address in the service's settings; null if it is usable as written. Prefers a
 * container's published port, then its own address, then a relay in it. Finds the service's own container again for
 * each connection. Throws UNREACHABLE if there is no way, or the container does not run; FORBIDDEN, TIMED_OUT,
 * UNEXPECTED_ANSWER.
 */
export async function reachFrom(address: HostPort, around: Around): Promise<Opened<Way> | null> {
  const { own, project } = await around.containers()
  const aside = asideOf(address, own)
  if (aside !== null) return asItIs(aside)
  const targets = targetsOf(address.host, { own, project })
  const [first] = targets
  if (!first) return null
  const target = runningOf(targets, address, around)
  const access = await accessTo(target, address.port, own, around)
  if (!own.includes(first) && 'at' in access) return asItIs(access.at)
  const way =
    'at' in access
      ? null
      : command`${nested(typed([around.engine.program, 'exec', '-it', target.name, 'sh']))}   # then connect to
        ${`${target.service}:${address.port}`}`
  const { source, close } = await listenTunnel(async () => {
    const now = await around.containers()
    const found = runningOf(targetsOf(address.host, now), address, around)
    return open(await accessTo(found, address.port, now.own, around), address.port, around)
  })
  return { source: { ...source, command: way }, close }
}

function asItIs(at: HostPort): Opened<Way> {
  return { source: { ...at, command: null }, close: async () => undefined }
}

function asideOf({ host, port }: HostPort, own: readonly Container[]): HostPort | null {
  const entry = own.flatMap(({ extraHosts }) => extraHosts).find((it) => it.startsWith(`${host}:`))
  if (entry === undefined) return null
  const address = entry.slice(host.length + 1)
  // `host-gateway` stands for the machine of the engine
  return { host: address === 'host-gateway' ? '127.0.0.1' : address, port }
}

/** Returns the containers that the service reaches by a host name. */
export function targetsOf(
  host: string,
  { own, project }: Awaited<ReturnType<View['containers']>>,
): readonly Container[] {
  if (!isLoopback(host)) return project.filter((it) => isNamed(it, host, own))
  return own.some(({ networkMode }) => networkMode === 'host') ? [] : own
}

/** True if the host is a name of the container on a network that it shares with the service. */
function isNamed(it: Container, host: string, own: readonly Container[]): boolean {
  const shared = it.networks.filter(
    ({ name }) => own.length === 0 || own.some(({ networks }) => networks.some((other) => other.name === name)),
  )
  const names = [it.service, it.name, it.hostname, ...shared.flatMap(({ aliases, address }) => [...aliases, address])]
  return shared.length > 0 && names.includes(host)
}

function runningOf(targets: readonly Container[], { host, port }: HostPort, { engine }: Around): Container {
  const running = targets.find(runs)
  if (running) return running
  const [first] = targets
  if (!first)
    throw new AdminError(
      'UNAVAILABLE',
      `the compose project no longer has a container for ${host}:${port}`,
      [typed([engine.program, 'ps', '--all'])],
      { obstacle: { kind: 'instances' } },
    )
  throw new AdminError(
    'UNREACHABLE',
    `container \`${first.name}\` at ${host}:${port} is not running (${first.state.status}, exit code ` +
      `${first.state.exitCode})`,
    [typed([engine.program, 'start', first.name]), typed([engine.program, 'logs', '--tail', '200', first.name])],
    { obstacle: { kind: 'refused', host, port } },
  )
}

async function accessTo(
  target: Container,
  port: number,
  own: readonly Container[],
  { engine, timeoutMs }: Around,
): Promise<Access> {
  if (target.networkMode === 'host') return { at: { host: await engine.publishedAt(), port } }
  const published = target.ports[`${port}/tcp`]?.find((it) => it.port > 0)
  if (published)
    return { at: { host: isAny(published.host) ? await engine.publishedAt() : published.host, port: published.port } }
  const host = addressOf(target, own)
  if (host !== null && (await engine.isHere()) && (await answers({ host, port }, Math.min(nearMs, timeoutMs))))
    return { at: { host, port } }
  if (await canRelay(engine, target)) return { within: target }
  const where = `this machine cannot reach container \`${target.name}\` at ${target.service}:${port}`
  throw new AdminError(
    'UNREACHABLE',
    `${where}. The container does not publish port ${port}, and lacks nc, socat and bash`,
    [
      command`ports: [${nested(portsOf(port))}]   # under service ${target.service} in the compose file, then run:
        ${nested(typed([engine.program, 'compose', 'up', '-d', target.service]))}`,
      'run the same command on the machine where this container runs',
    ],
    { obstacle: { kind: 'unrouted', host: target.service, port } },
  )
}

function addressOf({ networks }: Container, own: readonly Container[]): string | null {
  const isShared = ({ name }: { name: string }): boolean =>
    own.some((it) => it.networks.some((other) => other.name === name))
  const known = networks.filter(({ address }) => address !== '')
  return (known.find(isShared) ?? known[0])?.address ?? null
}

function isAny(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::'
}

async function open(access: Access, port: number, { engine, timeoutMs }: Around): Promise<Duplex> {
  return 'at' in access ? connected(access.at, timeoutMs) : relayTo(engine, access.within, port)
}

/** True if the address answers; a refused connection is an answer too. */
async function answers(at: HostPort, timeoutMs: number): Promise<boolean> {
  try {
    ;(await connected(at, timeoutMs)).destroy()
    return true
  } catch (error) {
    return codeOf(error) === 'ECONNREFUSED'
  }
}

async function connected({ host, port }: HostPort, timeoutMs: number): Promise<Duplex> {
  const socket = connect({ host, port, allowHalfOpen: true, noDelay: true })
  const timer = setTimeout(() => socket.destroy(new Error('no connection in time')), timeoutMs)
  try {
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return socket
  } finally {
    clearTimeout(timer)
  }
}

function portsOf(port: number): ShellCommand {
  return command`"127.0.0.1:${port}:${port}"`
}

/**
 * Listens on this machine, and opens a new connection behind each one: a restarted container may have another address.
 * Resets a connection that cannot be opened, or breaks.
 */
async function listenTunnel(open: () => Promise<Duplex>): Promise<Opened<HostPort>> {
  return listenHere((socket) => {
    open().then(
      (stream) => join(socket, stream),
      () => socket.resetAndDestroy(),
    )
  })
}

/** Passes data on in both directions, no faster than each side reads. */
function join(socket: Socket, stream: Duplex): void {
  // a reset shows the client that it was not the server that ended the connection
  stream.once('error', () => socket.resetAndDestroy())
  socket.once('close', () => stream.destroy())
  if (socket.destroyed) stream.destroy()
  socket.pipe(stream).pipe(socket)
}
