import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import dns from 'node:dns'
import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { isHostName, isLoopback } from '../core/host.ts'

/**
 * How this machine looks names up, so that a name server that is silent does not keep the process from ending: Node's
 * own look-up waits in a thread, 10 s and more, and a process ends no sooner than its threads (libuv,
 * `uv_library_shutdown`; `process.exit` is no way around it). So `getent`, which asks as every program does, asks
 * first, and is killed at the end; Node asks once that has had its answer.
 */

/** that long, an answer of a program was no matter of name servers that are silent */
const quickMs = 1000
/** how long a name that was answered is asked of Node alone */
const knownMs = 10_000

/** The addresses of a name, in the order of this machine. Throws as `dns.lookup`. */
export async function lookUp(host: string): Promise<LookupAddress[]> {
  await answered(host)
  return dns.promises.lookup(host, { all: true })
}

/** Has every socket of this process look names up like this. */
export function lookUpLikeThis(): void {
  const own = dns.lookup
  const asking = (host: string, ...rest: unknown[]): void => {
    const [options, callback] = rest.length > 1 ? rest : [{}, rest[0]]
    answered(host).then(
      () => void Reflect.apply(own, dns, [host, options, callback]),
      (error: unknown) => (callback as (error: unknown) => void)(error),
    )
  }
  // sockets take it from there each time
  dns.lookup = Object.assign(asking, { __promisify__: own.__promisify__ })
}

const underWay = new Map<string, Promise<void>>()

/**
 * Returns once the name can be asked of Node without waiting for long. Throws EAI_AGAIN where no name server answers.
 */
async function answered(host: string): Promise<void> {
  if (isIP(host) !== 0 || isLoopback(host) || !isHostName(host)) return
  const asked =
    underWay.get(host) ?? askProgram(host).finally(() => setTimeout(() => underWay.delete(host), knownMs).unref())
  underWay.set(host, asked)
  return asked
}

const programs = new Set<ChildProcess>()

function killAll(): void {
  for (const program of programs) program.kill('SIGKILL')
}

async function askProgram(host: string): Promise<void> {
  const begin = performance.now()
  const child = spawn('getent', ['ahosts', host], { stdio: 'ignore' })
  programs.add(child)
  if (programs.size === 1) process.on('exit', killAll)
  const isFound = await new Promise<boolean>((resolve) => {
    // a machine without it
    child.once('error', () => resolve(true))
    child.once('exit', (code) => resolve(code === 0))
  })
  programs.delete(child)
  if (programs.size === 0) process.removeListener('exit', killAll)
  if (isFound || performance.now() - begin < quickMs) return
  throw Object.assign(new Error(`getaddrinfo EAI_AGAIN ${host}`), {
    code: 'EAI_AGAIN',
    syscall: 'getaddrinfo',
    hostname: host,
  })
}
