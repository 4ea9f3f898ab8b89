/** Takes packed bytes and gives what they held. */
export interface Unpacker {
  /** throws where they are no such archive */
  take(piece: Uint8Array): Promise<void>
  /** throws where it is cut short */
  end(): Promise<void>
  /** what was unpacked since it was asked last, also before what is damaged */
  ready(): readonly Uint8Array[]
  close(): void
  /** bytes at a time: of what these hold nothing can be left where it is */
  readonly piece: number
}
