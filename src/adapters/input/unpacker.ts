/** Unpacks an archive piece by piece. */
export interface Unpacker {
  /** Takes packed bytes. Throws if they are not such an archive */
  take(piece: Uint8Array): Promise<void>
  /** Ends the input. Throws if the archive is cut short */
  end(): Promise<void>
  /** Returns what was unpacked since the last call, including what comes before damage */
  ready(): readonly Uint8Array[]
  close(): void
  /** Bytes to take at a time: all that these hold is kept in memory at once */
  readonly piece: number
}
