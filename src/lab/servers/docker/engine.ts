import { request } from 'node:http'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type * as Testcontainers from 'testcontainers'
import { AdminError, codeOf, messageOf } from '../../../core/error.ts'
import { redactUrl } from '../../../core/secret.ts'
import { cacheFolder, cached } from '../packages/cache.ts'
import { installFromNpm } from '../packages/npm.ts'
import type { StartOptions } from '../types.ts'

/** The newest testcontainers that runs on Node 20. */
const testcontainersVersion = '11.14.0'

const deadlineMs = 2000

const startEngine = 'start Docker, then try again'

/**
 * Checks that a Docker engine answers in time, since a client may be installed without one. Throws UNAVAILABLE if none
 * answers.
 */
export async function assertEngine(environment: NodeJS.ProcessEnv): Promise<void> {
  const named = engineAddress(environment)
  const answers = await Promise.all((named === null ? usualSockets(environment) : [named]).map(ping))
  if (answers.includes(true)) return
  if (named === null) throw new AdminError('UNAVAILABLE', 'no Docker engine answers', [startEngine])
  throw new AdminError('UNAVAILABLE', 'no Docker engine answers at DOCKER_HOST', [
    'unset DOCKER_HOST, or start Docker there',
  ])
}

/** Returns the engine's address from the environment; null means the usual places. */
export function engineAddress(environment: NodeJS.ProcessEnv): string | null {
  return environment['DOCKER_HOST'] || null
}

/**
 * Connects to the engine through testcontainers, which knows where to find engines. Fetches testcontainers if it is not
 * installed. Throws UNAVAILABLE if it cannot be fetched, UNREACHABLE if the engine does not answer.
 */
export async function connectEngine(
  address: string | null,
  options: StartOptions,
): Promise<Testcontainers.ContainerRuntimeClient> {
  const { getContainerRuntimeClient } = await loadTestcontainers(options)
  // testcontainers reads the address only from this variable
  if (address) process.env['DOCKER_HOST'] = address
  try {
    return await getContainerRuntimeClient()
  } catch (error) {
    const where = address ? ` at ${redactUrl(address)}` : ''
    throw new AdminError(
      'UNREACHABLE',
      `the Docker engine${where} does not answer: ${messageOf(error)}`,
      [startEngine],
      { cause: error },
    )
  }
}

export async function loadTestcontainers(options: StartOptions): Promise<typeof Testcontainers> {
  // servers outlive the process that starts them, so the reaper of testcontainers must not stop them
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true'
  try {
    return await import('testcontainers')
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
  }
  const folder = await cached(
    cacheFolder(options.environment ?? process.env),
    `testcontainers-${testcontainersVersion}`,
    async (temporary) => {
      options.progress(`fetching testcontainers ${testcontainersVersion} from npm (once)`)
      await installFromNpm(temporary, `testcontainers@${testcontainersVersion}`, options)
    },
    options,
  )
  return createRequire(join(folder, 'package.json'))('testcontainers') as typeof Testcontainers
}

function usualSockets(environment: NodeJS.ProcessEnv): readonly string[] {
  const runtime = environment['XDG_RUNTIME_DIR']
  const paths = [
    '/var/run/docker.sock',
    join(homedir(), '.docker/run/docker.sock'),
    join(homedir(), '.docker/desktop/docker.sock'),
  ]
  return [...paths, ...(runtime ? [join(runtime, 'docker.sock')] : [])].map((path) => `unix://${path}`)
}

function ping(address: string): Promise<boolean> {
  const target = targetOf(address)
  // another kind of address: testcontainers will try it
  if (!target) return Promise.resolve(true)
  return new Promise((resolve) => {
    const asked = request(
      { ...target, path: '/_ping', agent: false, signal: AbortSignal.timeout(deadlineMs) },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode === 200)
      },
    )
    asked.once('error', () => resolve(false))
    asked.end()
  })
}

function targetOf(address: string): { socketPath: string } | { host: string; port: number } | null {
  if (address.startsWith('unix://')) return { socketPath: address.slice('unix://'.length) }
  if (!/^(tcp|http):\/\//.test(address)) return null
  const url = new URL(address.replace(/^tcp:/, 'http:'))
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || 2375 }
}
