import { connect } from 'node:net'
import type { ContainerRuntimeClient } from 'testcontainers'
import { managementAnswers } from '../local/management.ts'
import type { ServerKind, ServerRecord } from '../types.ts'

/** True if the server in the container serves clients. The engine accepts connections long before that. */
export async function dockerReady(client: ContainerRuntimeClient, record: ServerRecord): Promise<boolean> {
  if (record.kind === 'redis') return answersTo(record.host, record.port, 'PING\r\n')
  if (record.kind === 'rabbitmq') {
    return (await managementAnswers(record)) && answersTo(record.host, record.port, 'AMQP\0\0\x09\x01')
  }
  return (await tryInside(client, record, ['pg_isready', '-q', '-h', '127.0.0.1'])) !== null
}

const versionCommands: Readonly<Record<ServerKind, string[]>> = {
  postgres: ['postgres', '--version'],
  redis: ['redis-server', '--version'],
  rabbitmq: ['rabbitmqctl', '--node', 'none', 'version'],
}

/** Returns the version that the program in the container reports, or `unknown`. */
export async function saysVersion(client: ContainerRuntimeClient, record: ServerRecord): Promise<string> {
  const said = (await tryInside(client, record, versionCommands[record.kind])) ?? ''
  return /(?<!\d)\d+\.\d+(\.\d+)?/.exec(said)?.[0] ?? 'unknown'
}

/** Returns the last three lines of the container's output. */
export async function lastWords(client: ContainerRuntimeClient, record: ServerRecord): Promise<string> {
  const container = client.container.getById(record.container?.containerId ?? '')
  const said = await container.logs({ stdout: true, stderr: true, tail: 3 })
  const pieces: string[] = []
  // each piece has a head of eight bytes: the first says which stream, the last four the piece's length
  for (let at = 0; at + 8 <= said.length; ) {
    const end = at + 8 + said.readUInt32BE(at + 4)
    pieces.push(said.toString('utf8', at + 8, end).trim())
    at = end
  }
  return pieces.join(' / ')
}

async function tryInside(
  client: ContainerRuntimeClient,
  record: ServerRecord,
  command: string[],
): Promise<string | null> {
  try {
    const { output, exitCode } = await client.container.exec(
      client.container.getById(record.container?.containerId ?? ''),
      command,
    )
    return exitCode === 0 ? output : null
  } catch {
    return null // it has exited
  }
}

function answersTo(host: string, port: number, question: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2000 }, () => socket.write(question, 'latin1'))
    const done = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('data', () => done(true))
    for (const event of ['timeout', 'error', 'close'] as const) socket.once(event, () => done(false))
  })
}
