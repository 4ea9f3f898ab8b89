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
import type { LocalRecord } from './local/processes.ts'
import { postgresClient } from './postgres-client.ts'
import { readServer } from './record.ts'
import { serverNames } from './types.ts'
import type { ServerRecord, StartOptions } from './types.ts'

const isLocal = (record: ServerRecord): record is LocalRecord => record.local !== undefined

/**
 * Stops the server and keeps its data. `kill` gives it no time to clean up. Harmless if it has already stopped. Throws
 * REFUSED for a given server.
 */
export async function stopServer(record: ServerRecord, how: 'graceful' | 'kill' = 'graceful'): Promise<void> {
  refuseGiven(record, 'stopped')
  if (isLocal(record)) await endLocal(record, how)
  else await endDocker(record, how)
}

/** Throws UNAVAILABLE if the server's data is lost, such as a disk in memory after a restart of the machine. */
export async function assertData(record: ServerRecord): Promise<void> {
  if (isLocal(record) && record.state === 'started') await assertDisk(record)
}

/**
 * Starts a stopped server on the same port and data. Does nothing if it is running. Throws UNAVAILABLE if the port is
 * taken.
 */
export async function resumeServer(record: ServerRecord, options: StartOptions): Promise<ServerRecord> {
  if (record.way === 'given') return record
  return isLocal(record) ? resumeLocal(record, options) : resumeDocker(record, options)
}

/** True if the server's processes are alive and it accepts connections. */
export async function serverRunning(record: ServerRecord): Promise<boolean> {
  if (record.way === 'given') return accepts(record.host, record.port)
  return isLocal(record) ? localRunning(record) : dockerRunning(record)
}

/**
 * Stops the server and removes everything made for it, even after a killed start. Can safely run twice. For a given
 * server, only our record is removed.
 */
export async function removeServer(record: ServerRecord): Promise<void> {
  await removeParts(record)
  const there = await readServer(record.directory)
  // another server may have been started in that folder since
  if (!there || there.id === record.id) await rm(record.directory, { recursive: true, force: true, maxRetries: 5 })
}

/** Removes everything except the record, which says where the parts are. */
export async function removeParts(record: ServerRecord): Promise<void> {
  if (isLocal(record)) await removeLocal(record)
  else if (record.way === 'docker') await removeDocker(record)
}

/**
 * Runs `rabbitmqctl ARGS` on that broker's node and returns its output. Throws FAILED with its last lines, REFUSED for
 * a given broker.
 */
export async function brokerControl(record: ServerRecord, args: readonly string[]): Promise<string> {
  refuseGiven(record, 'controlled')
  if (record.kind !== 'rabbitmq')
    throw new AdminError('USAGE', `rabbitmqctl works only for RabbitMQ, not for ${serverNames[record.kind]}`)
  return isLocal(record) ? controlLocal(record, args) : dockerControl(record, args)
}

/**
 * Fills PostgreSQL's data disk: tables cannot grow and temporary files cannot be written (SQLSTATE 53100). The
 * write-ahead log is on another disk, so the server stays up. Can safely run twice. Throws UNAVAILABLE if the server
 * was started without `diskBytes`, or if this machine could not provide such a disk.
 */
export async function fillDisk(record: ServerRecord): Promise<void> {
  refuseGiven(record, 'filled')
  if (!record.local?.disk && !record.container?.disk) throw noDisk(record)
  await writeOut(record)
  if (record.local?.disk) await fillLocalDisk(record.local.disk)
  else await fillDockerDisk(record)
}

/** Frees the disk that `fillDisk` filled. Can safely run twice. */
export async function freeDisk(record: ServerRecord): Promise<void> {
  refuseGiven(record, 'freed')
  if (record.local?.disk) await freeLocalDisk(record.local.disk)
  else if (record.container?.disk) await freeDockerDisk(record)
}

/** Makes PostgreSQL write out its memory while there is room: failing to write it later would be another fault. */
async function writeOut(record: ServerRecord): Promise<void> {
  if (!(await serverRunning(record))) return
  const client = await postgresClient(record, { connectMs: 10_000, queryMs: 30_000 })
  try {
    await client.connect()
    await client.query('CHECKPOINT')
  } catch {
    return // no free connection, or the disk is already full: the disk can be filled anyway
  } finally {
    await client.end()
  }
}

function refuseGiven(record: ServerRecord, what: string): void {
  if (record.way !== 'given') return
  throw new AdminError(
    'REFUSED',
    `${serverNames[record.kind]} at ${record.host}:${record.port} is not the lab's own server, so it must not ` +
      `be ${what}`,
    ['unset TESTOPS_ADMIN_LAB_…_URL, and start the lab with its own servers'],
  )
}

function noDisk(record: ServerRecord): AdminError {
  const message = `${serverNames[record.kind]}'s data is not on a small disk that the lab could fill`
  return new AdminError('UNAVAILABLE', message, [
    'testops-admin lab down',
    'testops-admin lab up   # run it as root, or install the Debian package tcc first',
  ])
}
