import type { AdminError } from '../error.ts'
import type { Suggestion } from '../shell-command.ts'
import { currentTime } from '../local-time.ts'

/** Bytes of the log that a check reads. */
export const logBytes = 4_000_000

/** Milliseconds that a log's clock may be ahead of this machine's before its times count as wrong */
const aheadMs = 2000

/**
 * True if the newest record is from the future. Then the log's clock is ahead, or it uses another time zone, and
 * records from before a start may look like records from after it.
 */
export function isLogAhead(records: readonly LogRecord[]): boolean {
  const newest = records.findLast(({ at }) => at !== null)?.at ?? null
  return newest !== null && newest.getTime() > currentTime() + aheadMs
}

export interface LogsSource {
  /** File or command that the log is read from */
  readonly target: string
  /** The command that prints the log, if `target` is one; null: it is a file */
  readonly prints: Suggestion | null
  /**
   * Returns the newest records, oldest first, bounded in bytes; `complete` is false if older ones were left out.
   * `unread`: parts that could not be read while others could
   */
  recent(options: { maxBytes: number }): Promise<RecentRecords>
  /**
   * Yields lines as they are written, until the signal ends it, which throws nothing; those of one container, file or
   * command in their order. Continues after a part is replaced, rotated or broken off. Throws if it cannot begin, or
   * may not continue.
   */
  follow(options: FollowOptions): AsyncIterable<FollowedLine>
  /**
   * Returns the whole log in parts, each a stream of its own: a file with its rotated siblings, containers and their
   * predecessors. Throws if the parts cannot be determined.
   */
  parts(options: LogPartsOptions): Promise<readonly LogPart[]>
}

export interface RecentRecords {
  complete: boolean
  records: readonly LogRecord[]
  unread?: readonly UnreadPart[]
}

/** A part of a log that could not be read. */
export interface UnreadPart {
  /** Name for people */
  name: string
  error: AdminError
}

export interface LogPartsOptions {
  signal?: AbortSignal | undefined
  /** What was surely written before this time may be left out */
  since?: Date | undefined
}

/** What one container, file or command has written. */
export interface LogPart {
  /** Name for people */
  readonly name: string
  /** Path of its file, which may be compressed: files have quicker ways to be read */
  readonly file?: string
  /**
   * Yields all of it unchanged, oldest first; each line may follow the time at which its engine got it. Throws if it
   * cannot be read, perhaps in the middle
   */
  blocks(signal?: AbortSignal): AsyncIterable<Uint8Array>
}

export interface LogRecord {
  /** Null if the record has no date that can be read */
  at: Date | null
  level: string | null
  /** Whole text, including continuation lines */
  text: string
}

export interface FollowOptions {
  signal: AbortSignal
  /** Where to begin; absent: with what is new from now on; 1970: with all that is there */
  since?: Date | undefined
  /** Receives what keeps lines from coming, once for as long as it lasts */
  tell?: ((message: string) => void) | undefined
}

/** A line of a followed log, without its end; an overlong line is cut. */
export interface FollowedLine {
  /** Pod, container, file or command */
  from: string
  text: string
  /** When its engine got it, as the engine wrote it, with the blank after it */
  stamp?: string
}

/**
 * The log of requests that the proxy before the service writes. It returns no query, and nothing that may be a secret.
 */
export interface AccessLogSource {
  /** Path of its file */
  readonly target: string
  /**
   * Returns the newest requests in the order of the file, bounded in bytes; `complete` is false if older ones were left
   * out
   */
  recent(options: { maxBytes: number }): Promise<AccessLogPart>
}

interface AccessLogPart {
  complete: boolean
  requests: readonly LoggedRequest[]
  /** Number of lines that tell of no request, or have an unknown format */
  unread: number
}

export interface LoggedRequest {
  /** Null where the time, or its zone, cannot be read */
  at: Date | null
  /** Address that the request came from, as the proxy saw it */
  client: string
  /** Program that sent it, `curl/8.5.0`; null: not recorded, or it did not say */
  agent: string | null
  method: string
  /** Without its query; segments that may be secrets are hidden */
  path: string
  status: number
  /** Scheme of the Authorization header, in lower case; null: none was sent, or the log does not record it */
  scheme: string | null
}
