export interface LogsSource {
  /** file or command that the log is read from */
  readonly target: string
  /** the newest records, oldest first, bounded in bytes; `complete` is false where older ones were left out */
  recent(options: { maxBytes: number }): Promise<{ complete: boolean; records: readonly LogRecord[] }>
}

export interface LogRecord {
  /** null where the record bears no date that can be read */
  at: Date | null
  level: string | null
  /** whole text, continuation lines included */
  text: string
}
