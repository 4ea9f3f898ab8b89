import type { AdminError } from '../error.ts'
import type { Suggestion } from '../shell-command.ts'

export interface LogsSource {
  /** file or command that the log is read from */
  readonly target: string
  /** the command that prints the log, where `target` is one; null: it is a file */
  readonly prints: Suggestion | null
  /**
   * the newest records, oldest first, bounded in bytes; `complete` is false where older ones were left out; `unread`:
   * parts that could not be read, where others could
   */
  recent(options: { maxBytes: number }): Promise<RecentRecords>
  /**
   * Lines as they are written, until the signal ends it, which is an end like any other; those of one container, file
   * or command in their order. What is replaced, rotated or broken off meanwhile is gone on with. Throws where it
   * cannot begin, or may not go on.
   */
  follow(options: FollowOptions): AsyncIterable<FollowedLine>
  /**
   * All of the log, in parts of which each is a stream of its own: a file with its rotated siblings, containers and
   * those before them. Throws where they cannot be told.
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
  /** for people */
  name: string
  error: AdminError
}

export interface LogPartsOptions {
  signal?: AbortSignal | undefined
  /** what was surely written before may be left out */
  since?: Date | undefined
}

/** What one container, file or command has written. */
export interface LogPart {
  /** for people */
  readonly name: string
  /** where it lies in a file, which may be compressed: that has its own quicker ways */
  readonly file?: string
  /**
   * all of it, the oldest first, as it is, perhaps each line behind the time at which its engine got it; throws where
   * it cannot be read, perhaps in the middle
   */
  blocks(signal?: AbortSignal): AsyncIterable<Uint8Array>
}

export interface LogRecord {
  /** null where the record bears no date that can be read */
  at: Date | null
  level: string | null
  /** whole text, continuation lines included */
  text: string
}

export interface FollowOptions {
  signal: AbortSignal
  /** where it begins; left out: with what is new from now on; 1970: with all that is there */
  since?: Date | undefined
  /** is told what keeps lines from coming, once as long as it lasts */
  tell?: ((message: string) => void) | undefined
}

/** A line of a log that is followed, without its end; what is too long of it is left out. */
export interface FollowedLine {
  /** pod, container, file or command */
  from: string
  text: string
  /** when its engine got it, as that wrote it, with the blank behind it */
  stamp?: string
}
