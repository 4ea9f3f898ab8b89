import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import dns from 'node:dns'
import type { LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { sharedAnswers } from '../core/answers.ts'
import { isHostName, isLoopback } from '../core/host.ts'

/**
 * Look-ups that do not let a silent name server keep the process alive. Node's own waits in a thread, 10 s and more,
 * and a process ends no sooner than its threads (libuv, `uv_library_shutdown`; `process.exit` does not help). So
 * `getent`, which asks as every program does, asks first, and is killed at exit. Node asks after `getent` has its
 * answer.
 */

/** milliseconds within which a failure does not come from silent name servers */
const quickMs = 1000
/** milliseconds in which a name is asked of Node alone, after `getent` has asked */
const knownMs = 10_000

/** Returns the addresses of a name, in the order of this machine. Throws as `dns.lookup` does. */
export async function lookUp(host: string): Promise<LookupAddress[]> {
  await answered(host)
  return dns.promises.lookup(host, { all: true })
}

/** Makes every socket of this process look names up with `getent` first. */
export function lookUpLikeThis(): void {
  const own = dns.lookup
  const asking = (host: string, ...rest: unknown[]): void => {
    const [options, callback] = rest.length > 1 ? rest : [{}, rest[0]]
    answered(host).then(
      () => void Reflect.apply(own, dns, [host, options, callback]),
      (error: unknown) => (callback as (error: unknown) => void)(error),
    )
  }
  // sockets read `dns.lookup` each time
  dns.lookup = Object.assign(asking, { __promisify__: own.__promisify__ })
}

const answers = sharedAnswers({ keep: 'everything', keptMs: knownMs })

/** Waits until Node can look the name up quickly. Throws EAI_AGAIN if no name server answers. */
async function answered(host: string): Promise<void> {
  if (isIP(host) !== 0 || isLoopback(host) || !isHostName(host)) return
  return answers.to(host, async () => askProgram(host))
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
    // a machine without `getent`
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
