import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ContainerRuntimeClient } from 'testcontainers'
import { AdminError, messageOf } from '../../../core/error.ts'
import { assertPortFree, freePort, isOurs, loopback } from '../local/ports.ts'
import { writeRecord } from '../record.ts'
import { serverNames } from '../types.ts'
import type { ContainerServer, ServerRecord, ServerRequest, StartOptions } from '../types.ts'
import {
  assertEngine,
  connectEngine,
  containerPlan,
  diskPath,
  dockerReady,
  engineAddress,
  lastWords,
  loadTestcontainers,
  saysVersion,
} from './engine.ts'
import type { ContainerPlan } from './engine.ts'
import { command } from '../../../core/shell-command.ts'

const startTimeoutMs = 120_000
const silent: StartOptions = { progress: () => {} }

export { assertEngine }

/** Starts a container of the official image. Records its name before it creates the container. */
export async function startDocker(
  draft: ServerRecord,
  request: ServerRequest,
  options: StartOptions,
): Promise<ServerRecord> {
  const engine = engineAddress(options.environment ?? process.env)
  const client = await connectEngine(engine, options)
  const host = await hostOf(client)
  const named = `testops-admin-${draft.id}`
  const record = withCredentials(
    {
      ...draft,
      host,
      container: {
        engine,
        containerId: named,
        ...(draft.kind === 'postgres' && request.postgres?.diskBytes
          ? { disk: { volume: `${named}-disk`, holderId: `${named}-disk` } }
          : {}),
      },
      ...(draft.kind === 'rabbitmq'
        ? { line: request.rabbitmq?.line ?? '3', ...(await management(host, draft.directory)) }
        : {}),
    },
    request,
  )
  const plan = containerPlan(record, request)
  await ensureImage(client, plan.image, options)
  await writeRecord(record)
  if (record.container?.disk)
    await makeDisk(client, plan.image, record.container.disk, request.postgres?.diskBytes ?? 0)
  await client.container.create(creation(record, plan))
  return run(client, record, options)
}

export async function resumeDocker(record: ServerRecord, options: StartOptions): Promise<ServerRecord> {
  return run(await connectEngine(containerOf(record).engine, options), record, options)
}

export async function endDocker(record: ServerRecord, how: 'graceful' | 'kill'): Promise<void> {
  const container = (await connectEngine(containerOf(record).engine, silent)).container.getById(
    containerOf(record).containerId,
  )
  // 304: already stopped; 404: gone; 409: not running
  await ignoring([304, 404, 409], how === 'kill' ? container.kill() : container.stop({ t: 30 }))
}

export async function dockerRunning(record: ServerRecord): Promise<boolean> {
  const client = await connectEngine(containerOf(record).engine, silent)
  const state = await ignoring([404], client.container.getById(containerOf(record).containerId).inspect())
  return state?.State.Running === true && (await dockerReady(client, record))
}

export async function removeDocker(record: ServerRecord): Promise<void> {
  const { dockerode } = (await connectEngine(containerOf(record).engine, silent)).container
  const { containerId, disk } = containerOf(record)
  for (const id of [containerId, ...(disk ? [disk.holderId] : [])]) {
    await ignoring([404, 409], dockerode.getContainer(id).remove({ force: true, v: true }))
  }
  if (disk) await ignoring([404], dockerode.getVolume(disk.volume).remove())
}

export function dockerControl(record: ServerRecord, args: readonly string[]): Promise<string> {
  return execute(record, ['rabbitmqctl', ...args])
}

export async function fillDockerDisk(record: ServerRecord): Promise<void> {
  await execute(record, ['sh', '-c', `cat /dev/zero > ${diskPath}/filler 2> /dev/null; test -e ${diskPath}/filler`])
}

export async function freeDockerDisk(record: ServerRecord): Promise<void> {
  await execute(record, ['rm', '-f', `${diskPath}/filler`])
}

async function execute(record: ServerRecord, command: string[]): Promise<string> {
  const client = await connectEngine(containerOf(record).engine, silent)
  const { output, exitCode } = await client.container.exec(
    client.container.getById(containerOf(record).containerId),
    command,
  )
  if (exitCode !== 0)
    throw new AdminError(
      'FAILED',
      `${command[0]} ${command[1] ?? ''} failed: ${output.trim().split('\n').at(-1) ?? exitCode}`,
    )
  return output
}

async function ensureImage(client: ContainerRuntimeClient, image: string, options: StartOptions): Promise<void> {
  const { ImageName } = await loadTestcontainers(options)
  const name = ImageName.fromString(image)
  if (await client.image.exists(name)) return
  options.progress(`pulling the image ${image} (once)`)
  try {
    await client.image.pull(name)
  } catch (error) {
    throw new AdminError(
      'UNAVAILABLE',
      `the image ${image} is not on this machine and could not be pulled: ${messageOf(error)}`,
      [command`docker pull ${image}`],
      {
        cause: error,
      },
    )
  }
}

/**
 * Makes a file system in memory, and a container that holds it while the server is stopped. The engine removes the file
 * system with the last container that uses it.
 */
async function makeDisk(
  client: ContainerRuntimeClient,
  image: string,
  disk: NonNullable<ContainerServer['disk']>,
  bytes: number,
): Promise<void> {
  await client.container.dockerode.createVolume({
    Name: disk.volume,
    Driver: 'local',
    DriverOpts: { type: 'tmpfs', device: 'tmpfs', o: `size=${bytes}` },
  })
  const holder = await client.container.create({
    name: disk.holderId,
    Image: image,
    Entrypoint: ['sleep'],
    Cmd: ['infinity'],
    HostConfig: { Binds: [`${disk.volume}:${diskPath}`] },
  })
  await holder.start()
}

function creation(
  record: ServerRecord,
  plan: ContainerPlan,
): Parameters<ContainerRuntimeClient['container']['create']>[0] {
  const { containerId, disk } = containerOf(record)
  // an engine on another machine must listen outside its loopback
  const HostIp = record.host === loopback ? loopback : ''
  const published: [number, number | undefined][] = [
    [plan.ports.main, record.port],
    ...(plan.ports.management ? [[plan.ports.management, record.managementPort] as [number, number | undefined]] : []),
  ]
  return {
    name: containerId,
    // RabbitMQ names its node and data after this
    Hostname: 'lab',
    Image: plan.image,
    Entrypoint: plan.command.slice(0, 1),
    Cmd: plan.command.slice(1),
    Env: Object.entries(plan.environment).map(([name, value]) => `${name}=${value}`),
    ExposedPorts: Object.fromEntries(published.map(([inside]) => [`${inside}/tcp`, {}])),
    HostConfig: {
      PortBindings: Object.fromEntries(
        published.map(([inside, outside]) => [`${inside}/tcp`, [{ HostIp, HostPort: String(outside) }]]),
      ),
      ...(disk ? { Binds: [`${disk.volume}:${diskPath}`] } : {}),
    },
  }
}

async function run(client: ContainerRuntimeClient, record: ServerRecord, options: StartOptions): Promise<ServerRecord> {
  const name = serverNames[record.kind]
  const container = client.container.getById(containerOf(record).containerId)
  try {
    await ignoring([304], container.start())
  } catch (error) {
    const taken = record.host === loopback && /address already in use|port is already allocated/.test(messageOf(error))
    for (const port of taken ? portsOf(record) : []) await assertPortFree(port, name)
    throw new AdminError('UNAVAILABLE', `${name}'s container did not start: ${messageOf(error)}`, [], { cause: error })
  }
  const deadline = Date.now() + startTimeoutMs
  while (!(await dockerReady(client, record))) {
    if (options.signal?.aborted) throw new AdminError('INTERRUPTED', `the start of ${name} was interrupted`)
    const { State } = await container.inspect()
    if (!State.Running) {
      const ended = `${name}'s container exited with ${State.ExitCode} instead of starting`
      throw new AdminError('UNAVAILABLE', `${ended}: ${await lastWords(client, record)}`)
    }
    if (Date.now() > deadline) {
      const late = `${name}'s container was not ready within ${startTimeoutMs / 1000} s`
      throw new AdminError('TIMED_OUT', `${late}: ${await lastWords(client, record)}`)
    }
    await sleep(200)
  }
  const started: ServerRecord = {
    ...record,
    state: 'started',
    version: record.version || (await saysVersion(client, record)),
  }
  await writeRecord(started)
  return started
}

function portsOf({ port, managementPort }: ServerRecord): number[] {
  return managementPort === undefined ? [port] : [port, managementPort]
}

function withCredentials(record: ServerRecord, request: ServerRequest): ServerRecord {
  const password = randomBytes(18).toString('base64url')
  if (record.kind === 'postgres') return { ...record, user: 'postgres', password, database: 'postgres' }
  if (record.kind === 'rabbitmq') return { ...record, user: 'lab', password, database: '/' }
  return { ...record, user: 'default', password: request.redis?.password?.reveal() ?? '', database: '0' }
}

async function management(host: string, directory: string): Promise<{ managementPort: number; managementUrl: string }> {
  const managementPort = await freePort(directory)
  return { managementPort, managementUrl: `http://${host}:${managementPort}` }
}

/** Returns the engine's host: loopback if it is this machine, for which testcontainers may give another address. */
async function hostOf(client: ContainerRuntimeClient): Promise<string> {
  const { host } = client.info.containerRuntime
  return host === 'localhost' || (await isOurs(host)) ? loopback : host
}

function containerOf(record: ServerRecord): ContainerServer {
  // a start that was killed before it made anything
  return record.container ?? { engine: null, containerId: `testops-admin-${record.id}` }
}

async function ignoring<T>(statuses: readonly number[], answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && 'statusCode' in error && statuses.includes(Number(error.statusCode))) return null
    throw error
  }
}
