import { connect } from 'node:net'
import type { HostPort } from '../../core/endpoint.ts'
import { AdminError, codeOf } from '../../core/error.ts'
import { isLoopback } from '../../core/host.ts'
import { typed } from '../../core/typed.ts'
import type { Container } from './containers.ts'
import type { Engine } from './engine.ts'
import { runs } from './status.ts'

interface Around {
  engine: Engine
  /** containers of the service itself */
  own: readonly Container[]
  /** of its project */
  project: readonly Container[]
  timeoutMs: number
}

/** how long a container's own address is tried: it is on this machine, or not to be reached at all */
const nearMs = 1500

/**
 * Where an address that the service's settings name is reached from this machine; null: as it is written. A container's published
 * port comes first, then its own address. Throws UNAVAILABLE where it has neither, or does not run.
 */
export async function reachFrom({ host, port }: HostPort, { engine, own, project, timeoutMs }: Around): Promise<HostPort | null> {
  const aside = own.flatMap(({ extraHosts }) => extraHosts).find((it) => it.startsWith(`${host}:`))
  if (aside !== undefined) return { host: asideAddress(aside.slice(host.length + 1)), port }
  const targets = targetsOf(host, { own, project })
  const [first] = targets
  if (!first) return null
  const target = targets.find(runs)
  if (!target) {
    throw new AdminError('UNAVAILABLE', `${host}:${port} is the container ${first.name}, which does not run (${first.state.status}, exit code ${first.state.exitCode})`, [
      typed([engine.program, 'start', first.name]),
      typed([engine.program, 'logs', '--tail', '200', first.name]),
    ])
  }
  if (target.networkMode === 'host') return { host: await engine.publishedAt(), port }
  const published = target.ports[`${port}/tcp`]?.find((it) => it.port > 0)
  if (published) return { host: isAny(published.host) ? await engine.publishedAt() : published.host, port: published.port }
  const address = addressOf(target, own)
  if (address !== null && (await engine.isHere()) && (await answers({ host: address, port }, Math.min(nearMs, timeoutMs)))) return { host: address, port }
  throw new AdminError('UNAVAILABLE', `${host}:${port} is the container ${target.name}, which publishes no port ${port}, and whose own address this machine does not reach`, [
    `ports: ["127.0.0.1:${port}:${port}"]   # at the service ${target.service} of the compose file, then: ${engine.program} compose up -d ${target.service}`,
    'run this on the machine of the engine',
  ])
}

/** The containers that a name means to the service. */
export function targetsOf(host: string, { own, project }: Pick<Around, 'own' | 'project'>): readonly Container[] {
  if (!isLoopback(host)) return project.filter((it) => isNamed(it, host, own))
  return own.some(({ networkMode }) => networkMode === 'host') ? [] : own
}

/** By what a container is called on a network that the service is on, too. */
function isNamed(it: Container, host: string, own: readonly Container[]): boolean {
  const shared = it.networks.filter(({ name }) => own.length === 0 || own.some(({ networks }) => networks.some((other) => other.name === name)))
  const names = [it.service, it.name, it.hostname, ...shared.flatMap(({ aliases, address }) => [...aliases, address])]
  return shared.length > 0 && names.includes(host)
}

function addressOf({ networks }: Container, own: readonly Container[]): string | null {
  const isShared = ({ name }: { name: string }): boolean => own.some((it) => it.networks.some((other) => other.name === name))
  const known = networks.filter(({ address }) => address !== '')
  return (known.find(isShared) ?? known[0])?.address ?? null
}

/** `host-gateway` stands for the machine of the engine. */
function asideAddress(address: string): string {
  return address === 'host-gateway' ? '127.0.0.1' : address
}

function isAny(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::'
}

/** That nothing listens there is an answer too. */
async function answers({ host, port }: HostPort, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs })
    const end = (answer: boolean): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', (error) => end(codeOf(error) === 'ECONNREFUSED'))
  })
}
