export interface LogsSource {
  /** file or command that the log is read from */
  readonly target: string
  /** the newest records, oldest first, bounded in bytes; `complete` is false where older ones were left out */
  recent(options: { maxBytes: number }): Promise<{ complete: boolean; records: readonly LogRecord[] }>
  /**
   * Records as they are written, until the signal ends it, which is an end like any other; those of one container, file or command in
   * their order. What is replaced, rotated or broken off meanwhile is gone on with. Throws where it cannot begin, or may not go on.
   */
  follow(options: FollowOptions): AsyncIterable<FollowedRecord>
}

export interface LogRecord {
  /** null where the record bears no date that can be read */
  at: Date | null
  level: string | null
  /** whole text, continuation lines included */
  text: string
}

export interface FollowedRecord extends LogRecord {
  /** pod, container, file or command */
  from: string
}

export interface FollowOptions {
  signal: AbortSignal
  /** where it begins; left out: with what is new from now on */
  since?: Date | undefined
  /** is told what keeps lines from coming, once as long as it lasts */
  tell?: ((message: string) => void) | undefined
}

/** A line of a log that is followed, without its end; what is too long of it is left out. */
export interface FollowedLine {
  from: string
  text: string
}
