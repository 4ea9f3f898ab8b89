import type { LocalServer, ServerRecord, ServerRequest, StartOptions } from '../types.ts'
import type { Detached } from './processes.ts'

export type LocalRecord = ServerRecord & { local: LocalServer }

/** What differs between the three servers where they are processes of this machine. */
export interface LocalKind {
  /** ports, account and folders: what must be on record before anything is made */
  plan(record: LocalRecord, request: ServerRequest): Promise<LocalRecord>
  /** makes data and configuration; may complete the record, which is then written again before the start */
  prepare(record: LocalRecord, request: ServerRequest, options: StartOptions): Promise<LocalRecord>
  /** ports that must be free before a start */
  ports(record: LocalRecord): readonly number[]
  launch(record: LocalRecord): Promise<Detached>
  /** whether it serves clients */
  ready(record: LocalRecord): Promise<boolean>
  /** asks it to end; `pids` are all processes of the server */
  askToEnd(record: LocalRecord, pids: readonly number[]): Promise<void>
  /** where its processes work, where that is how they are known */
  dataDirectory(record: LocalRecord): string | null
  /** gives back what outlives a killed server, outside its folders */
  tidy(record: LocalRecord): Promise<void>
}
