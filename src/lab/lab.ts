import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AdminError, messageOf } from '../core/error.ts'
import type { DoctorReport } from '../core/check.ts'
import { labLayout } from './layout.ts'
import type { LabLayout } from './layout.ts'
import { readServer, serverNames } from './servers/index.ts'
import type { ServerKind, ServerRecord } from './servers/index.ts'
import { readState, writeState } from './state.ts'
import type { LabState } from './state.ts'
import { command } from '../core/shell-command.ts'

/** Options of every lab command. */
export interface LabOptions {
  /** the lab's folder, absolute */
  root: string
  /** called with each progress message */
  progress: (message: string) => void
  signal?: AbortSignal | undefined
  /** diagnoses the lab as `doctor -d lab` does */
  diagnose: (signal?: AbortSignal) => Promise<DoctorReport>
}

/** An existing lab, read from its files. */
export interface Lab extends LabOptions {
  layout: LabLayout
  state: LabState
}

/** Opens the lab in its folder. Throws UNAVAILABLE if there is none, or if `lab up` has not finished. */
export async function openLab(options: LabOptions): Promise<Lab> {
  const layout = labLayout(options.root)
  const state = await readState(layout)
  if (!state) throw new AdminError('UNAVAILABLE', `there is no lab in ${options.root}`, ['testops-admin lab up'])
  if (state.phase === 'up') return { ...options, layout, state }
  const what = state.phase === 'starting' ? '`lab up` has not finished' : '`lab down` has not finished'
  throw new AdminError('UNAVAILABLE', `the lab in ${options.root} is not up: ${what}`, [
    'testops-admin lab up',
    'testops-admin lab down',
  ])
}

/** Records a change in `lab.state` and on disk. Call it before you make the change. */
export async function remember(lab: Lab, changes: Partial<LabState>): Promise<void> {
  lab.state = { ...lab.state, ...changes }
  await writeState(lab.layout, lab.state)
}

export interface LabServers {
  postgres: ServerRecord
  rabbitmq: ServerRecord
  redis: ServerRecord
}

/** Reads the records of the servers that the lab uses now. Throws UNAVAILABLE if one is missing. */
export async function serversOf({ layout, state }: Pick<Lab, 'layout' | 'state'>): Promise<LabServers> {
  const read = async (kind: ServerKind): Promise<ServerRecord> => {
    const record = await readServer(layout.server(kind, kind === 'rabbitmq' ? state.currentLine : undefined))
    if (record?.state === 'started') return record
    throw new AdminError(
      'UNAVAILABLE',
      `the lab has no ${serverNames[kind]}, because that server did not finish starting`,
      [command`testops-admin lab ${state.faults.length > 0 ? 'mend' : 'up'}`],
    )
  }
  const [postgres, rabbitmq, redis] = await Promise.all([read('postgres'), read('rabbitmq'), read('redis')])
  return { postgres, rabbitmq, redis }
}

/** Reads the records of all servers made for the lab, including those of a killed start and the other broker line. */
export async function allServers({ servers }: LabLayout): Promise<ServerRecord[]> {
  const folders = await readdir(servers).catch(() => [])
  const records = await Promise.all(folders.map((folder) => readServer(join(servers, folder)).catch(() => null)))
  return records.filter((record) => record !== null)
}

export function labNames(state: LabState, servers: LabServers): LabNames {
  return namesOf(state, {
    database: servers.postgres.way === 'given',
    broker: servers.rabbitmq.way === 'given',
    sessions: servers.redis.way === 'given',
  })
}

/** Throws INTERRUPTED once `signal` is aborted, as by Ctrl-C. Call it between two steps, where stopping is safe. */
export function goOn({ signal }: Pick<LabOptions, 'signal'>): void {
  if (signal?.aborted) throw new AdminError('INTERRUPTED', 'interrupted')
}

/** Returns the names of what the lab makes on its servers; unique names on given servers, which others use too. */
function namesOf({ id }: { id: string }, given: { database: boolean; broker: boolean; sessions: boolean }): LabNames {
  const own = `testops-lab-${id}`
  return {
    database: given.database ? own.replaceAll('-', '_') : 'testops',
    role: given.database ? own.replaceAll('-', '_') : 'testops',
    vhost: given.broker ? own : null,
    namespace: given.sessions ? `${own}:session` : 'spring:session',
  }
}

interface LabNames {
  database: string
  role: string
  /** null: the broker's own virtual host */
  vhost: string | null
  namespace: string
}

/** Returns the error for a failed connection to one of the lab's servers. */
export function notLetIn({ kind, host, port }: ServerRecord, cause: unknown): AdminError {
  const message = `cannot connect to the lab's ${serverNames[kind]} at ${host}:${port}: ${messageOf(cause)}`
  return new AdminError('UNREACHABLE', message, ['testops-admin lab status', 'testops-admin lab mend'], { cause })
}
