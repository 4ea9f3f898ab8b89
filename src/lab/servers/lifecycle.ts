import { rm } from 'node:fs/promises'
import { AdminError } from '../../core/error.ts'
import {
  dockerControl,
  dockerRunning,
  endDocker,
  fillDockerDisk,
  freeDockerDisk,
  removeDocker,
  resumeDocker,
} from './docker/index.ts'
import { assertDisk, fillLocalDisk, freeLocalDisk } from './local/disk.ts'
import { endLocal, localRunning, removeLocal, resumeLocal } from './local/index.ts'
import { accepts } from './local/ports.ts'
import { controlLocal } from './local/rabbitmq.ts'
import type { LocalRecord } from './local/kind.ts'
import { postgresClient } from './postgres-client.ts'
import { readServer } from './record.ts'
import { serverNames } from './types.ts'
import type { ServerRecord, StartOptions } from './types.ts'

const isLocal = (record: ServerRecord): record is LocalRecord => record.local !== undefined

/**
 * Ends the server; its data is kept. `kill` gives it no time to put anything in order. Harmless where it has ended
 * already. Throws REFUSED for a given server.
 */
export async function stopServer(record: ServerRecord, how: 'graceful' | 'kill' = 'graceful'): Promise<void> {
  refuseGiven(record, 'stopped')
  if (isLocal(record)) await endLocal(record, how)
  else await endDocker(record, how)
}

/** Throws UNAVAILABLE where the server's data was lost, as on a disk in memory when the machine was restarted. */
export async function assertData(record: ServerRecord): Promise<void> {
  if (isLocal(record) && record.state === 'started') await assertDisk(record)
}

/**
 * Starts a stopped server on the same port and data. One that runs is left alone. Throws UNAVAILABLE where the port is
 * taken.
 */
export async function resumeServer(record: ServerRecord, options: StartOptions): Promise<ServerRecord> {
  if (record.way === 'given') return record
  return isLocal(record) ? resumeLocal(record, options) : resumeDocker(record, options)
}

/** Whether its processes live and it accepts connections. */
export async function serverRunning(record: ServerRecord): Promise<boolean> {
  if (record.way === 'given') return accepts(record.host, record.port)
  return isLocal(record) ? localRunning(record) : dockerRunning(record)
}

/**
 * Ends the server and removes all that was made for it, also where its start was killed half way. Harmless twice.
 * Of a given server only our own record is removed.
 */
export async function removeServer(record: ServerRecord): Promise<void> {
  await removeParts(record)
  const there = await readServer(record.directory)
  // another server may have been started there since
  if (!there || there.id === record.id) await rm(record.directory, { recursive: true, force: true, maxRetries: 5 })
}

/** All of it but the record, which is what tells where the parts are. */
export async function removeParts(record: ServerRecord): Promise<void> {
  if (isLocal(record)) await removeLocal(record)
  else if (record.way === 'docker') await removeDocker(record)
}

/**
 * What `rabbitmqctl ARGS` prints for that broker's node. Throws FAILED with its last words, REFUSED for a given broker.
 */
export async function brokerControl(record: ServerRecord, args: readonly string[]): Promise<string> {
  refuseGiven(record, 'controlled')
  if (record.kind !== 'rabbitmq')
    throw new AdminError('USAGE', `rabbitmqctl is for RabbitMQ, not for ${serverNames[record.kind]}`)
  return isLocal(record) ? controlLocal(record, args) : dockerControl(record, args)
}

/**
 * Fills the disk of PostgreSQL's data: tables cannot grow and no temporary file can be written (SQLSTATE 53100); the
 * write-ahead log lies elsewhere, so that the server stays up. Harmless twice. Throws UNAVAILABLE where the server was
 * not started with `diskBytes`, or this machine could not offer such a disk.
 */
export async function fillDisk(record: ServerRecord): Promise<void> {
  refuseGiven(record, 'filled')
  if (!record.local?.disk && !record.container?.disk) throw noDisk(record)
  await writeOut(record)
  if (record.local?.disk) await fillLocalDisk(record.local.disk)
  else await fillDockerDisk(record)
}

/** Takes back what `fillDisk` did. Harmless twice. */
export async function freeDisk(record: ServerRecord): Promise<void> {
  refuseGiven(record, 'freed')
  if (record.local?.disk) await freeLocalDisk(record.local.disk)
  else if (record.container?.disk) await freeDockerDisk(record)
}

/** What PostgreSQL holds in memory has room on the disk: what it could not write later would be a fault of its own. */
async function writeOut(record: ServerRecord): Promise<void> {
  if (!(await serverRunning(record))) return
  const client = await postgresClient(record, { connectMs: 10_000, queryMs: 30_000 })
  try {
    await client.connect()
    await client.query('CHECKPOINT')
  } catch {
    return // no connection is left, or the disk is full already: both are states that a disk may be filled in
  } finally {
    await client.end()
  }
}

function refuseGiven(record: ServerRecord, what: string): void {
  if (record.way !== 'given') return
  throw new AdminError(
    'REFUSED',
    `${serverNames[record.kind]} at ${record.host}:${record.port} was given by its address: it is not ours to be ${what}`,
    ['unset TESTOPS_ADMIN_LAB_…_URL, and start the lab with servers of its own'],
  )
}

function noDisk(record: ServerRecord): AdminError {
  return new AdminError(
    'UNAVAILABLE',
    `${serverNames[record.kind]} was started without a disk of its own, so there is none to fill`,
    ['testops-admin lab down', 'testops-admin lab up   # as root, or where the Debian package tcc can be had'],
  )
}
