import { closeSignal } from './channels.ts'
import type { Channels } from './channels.ts'

/** One connection, as a stream through the API server carries it. */
export interface ByteStream {
  readonly isOpen: boolean
  use(on: ByteListener): void
  /** `sent` is called when it has left, and more may be sent */
  send(bytes: Uint8Array, sent: () => void): void
  /** says that no more is sent, where the protocol has a word for that */
  end(): boolean
  pause(): void
  resume(): void
  /** says good-bye */
  close(): void
  /** without */
  destroy(): void
}

export interface ByteListener {
  data(bytes: Buffer): void
  /** the other side sends no more */
  end(): void
  /**
   * both sides are done; `isBroken`: it was not the server that has ended it; `lost`: what it means that it was not the
   * pod either
   */
  close(isBroken: boolean, lost?: () => Promise<unknown>): void
}

/**
 * `pods/portforward` has two channels for each port, data and errors, whose first message is the port. `lost`: what it
 * means that it broke on the way there.
 */
export function portStream(stream: Channels, lost?: (why: string) => Promise<unknown>): ByteStream {
  const [data, errors] = [0, 1]
  const isBegun = new Set<number>()
  let failure = ''
  return carried(stream, data, (on) =>
    stream.use(
      (channel, bytes) => {
        if (channel === closeSignal) return void (bytes[0] === data && on.end())
        const content = isBegun.has(channel) ? bytes : bytes.subarray(2)
        isBegun.add(channel)
        if (content.length === 0) return
        if (channel === errors) failure += content.toString()
        if (channel === data) on.data(content)
      },
      ({ isBroken, why }) =>
        on.close(isBroken || failure !== '', failure === '' && lost ? async () => lost(why) : undefined),
    ),
  )
}

/** What is sent goes out on one channel. */
export function carried(stream: Channels, channel: number, use: ByteStream['use']): ByteStream {
  return {
    use,
    get isOpen() {
      return stream.isOpen
    },
    send: (bytes, sent) => stream.send(channel, bytes, sent),
    end: () => stream.end(channel),
    pause: () => stream.pause(),
    resume: () => stream.resume(),
    close: () => stream.close(),
    destroy: () => stream.destroy(),
  }
}
