import type { LocalServer, ServerRecord, ServerRequest, StartOptions } from '../types.ts'
import type { Detached } from './processes.ts'

export type LocalRecord = ServerRecord & { local: LocalServer }

/** How each of the three servers runs as processes on this machine. */
export interface LocalKind {
  /** plans ports, account and folders, which must be recorded before anything is made */
  plan(record: LocalRecord, request: ServerRequest): Promise<LocalRecord>
  /** makes data and configuration; may complete the record, which is then rewritten before the start */
  prepare(record: LocalRecord, request: ServerRequest, options: StartOptions): Promise<LocalRecord>
  /** ports that must be free before a start */
  ports(record: LocalRecord): readonly number[]
  launch(record: LocalRecord): Promise<Detached>
  /** true if it serves clients */
  ready(record: LocalRecord): Promise<boolean>
  /** asks it to stop; `pids` are all processes of the server */
  askToEnd(record: LocalRecord, pids: readonly number[]): Promise<void>
  /** the working folder of its processes, if that identifies them */
  dataDirectory(record: LocalRecord): string | null
  /** releases what a killed server leaves outside its folders */
  tidy(record: LocalRecord): Promise<void>
}
