import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { AdminError, messageOf } from '../../core/error.ts'
import { startDocker, whyNoEngine } from './docker/index.ts'
import { givenVariable, givenVariableName, takeGiven } from './given.ts'
import { startLocal } from './local/index.ts'
import { assertPortFree, freePort, loopback } from './local/ports.ts'
import { obtainPrograms } from './packages/index.ts'
import { installedPrograms } from './programs.ts'
import { readServer } from './record.ts'
import { removeParts } from './lifecycle.ts'
import { serverNames, serverWays } from './types.ts'
import type { Programs, ServerRecord, ServerRequest, ServerWay, StartOptions } from './types.ts'

const wayVariable = 'TESTOPS_ADMIN_LAB_SERVERS'

/** A way that cannot be gone on this machine, and why. Any other error is one of the server itself. */
class NotThisWay extends AdminError {
  constructor(reason: string) {
    super('UNAVAILABLE', reason)
  }
}

/**
 * Starts a server, or takes the given one, by the first way that works here; `TESTOPS_ADMIN_LAB_SERVERS` forces one.
 * The server outlives this process. What is made is on record (`readServer`) before it is made. Throws REFUSED where the
 * directory already holds a server, UNAVAILABLE where the port is taken or no way works, INTERRUPTED.
 */
export async function startServer(request: ServerRequest, options: StartOptions): Promise<ServerRecord> {
  if (!isAbsolute(request.directory))
    throw new AdminError('USAGE', `The folder of a server is an absolute path, not ${request.directory}`)
  if (await readServer(request.directory)) {
    throw new AdminError('REFUSED', `${request.directory} already holds a server`, ['testops-admin lab down'])
  }
  const name = serverNames[request.kind]
  if (request.port) await assertPortFree(request.port, name)
  const environment = options.environment ?? process.env
  const ways = waysToTry(request, environment)
  const failures: string[] = []
  for (const way of ways) {
    try {
      return await startBy(way, request, options, environment)
    } catch (error) {
      if (options.signal?.aborted)
        throw new AdminError('INTERRUPTED', `The start of ${name} was interrupted`, [], { cause: error })
      // a given or a forced server is wanted as it is: no other is taken for it
      if (ways.length === 1 && error instanceof AdminError && !(error instanceof NotThisWay)) throw error
      failures.push(`${way}: ${messageOf(error)}`)
      if (!(error instanceof NotThisWay)) options.progress(`${name} by ${way} failed, trying another way: ${messageOf(error)}`)
    }
  }
  throw new AdminError('UNAVAILABLE', `${title(request)} cannot be had on this machine. ${failures.join('; ')}`, [
    `export ${givenVariableName(request.kind)}=…   # use a server that runs already`,
    `apt-get install ${{ postgres: 'postgresql', rabbitmq: 'rabbitmq-server', redis: 'redis-server' }[request.kind]}`,
    'or start Docker',
  ])
}

function waysToTry(request: ServerRequest, environment: NodeJS.ProcessEnv): readonly ServerWay[] {
  const forced = environment[wayVariable]
  if (forced) {
    const way = serverWays.find((way) => way === forced)
    if (!way) throw new AdminError('CONFIGURATION', `${wayVariable} is ${forced}, and not one of ${serverWays.join(', ')}`)
    if (way === 'given' && !givenVariable(request.kind, environment)) {
      throw new AdminError('CONFIGURATION', `${wayVariable} is given, but ${givenVariableName(request.kind)} is not set`)
    }
    return [way]
  }
  return givenVariable(request.kind, environment) ? ['given'] : serverWays.filter((way) => way !== 'given')
}

async function startBy(
  way: ServerWay,
  request: ServerRequest,
  options: StartOptions,
  environment: NodeJS.ProcessEnv,
): Promise<ServerRecord> {
  const draft: ServerRecord = {
    schemaVersion: 1,
    id: randomBytes(8).toString('hex'),
    state: 'starting',
    kind: request.kind,
    way,
    version: '',
    directory: request.directory,
    host: loopback,
    port: request.port ?? (await freePort()),
    user: '',
    password: '',
    database: '',
  }
  try {
    if (way === 'given') return await takeGiven(draft, request, environment)
    if (way === 'docker') {
      const missing = await whyNoEngine(environment)
      if (missing) throw new NotThisWay(missing)
      return await startDocker(draft, request, options)
    }
    const programs =
      way === 'programs' ? await installedPrograms(request, environment) : await obtain(request, options, environment)
    if (typeof programs === 'string') throw new NotThisWay(programs)
    if (way === 'packages') options.progress(`starting ${serverNames[request.kind]} ${programs.version}`)
    return await startLocal(draft, programs, request, options)
  } catch (error) {
    // the record tells which parts were made, as far as it got
    const made = await readServer(request.directory)
    if (made) await removeParts(made)
    await rm(request.directory, { recursive: true, force: true })
    throw error
  }
}

async function obtain(request: ServerRequest, options: StartOptions, environment: NodeJS.ProcessEnv): Promise<Programs | string> {
  try {
    return await obtainPrograms(request, options, environment)
  } catch (error) {
    if (error instanceof AdminError && error.code === 'UNAVAILABLE') return error.message
    throw error
  }
}

function title(request: ServerRequest): string {
  const name = serverNames[request.kind]
  return request.kind === 'rabbitmq' ? `${name} ${request.rabbitmq?.line ?? '3'}` : name
}
