import { closeSignal } from './channels.ts'
import type { Channels } from './channels.ts'

/** One connection, as a stream through the API server carries it. */
export interface ByteStream {
  readonly isOpen: boolean
  use(on: ByteListener): void
  /** Sends bytes; calls `sent` when they have left, and more may be sent */
  send(bytes: Uint8Array, sent: () => void): void
  /** Says that no more is sent; false if the protocol has no word for that */
  end(): boolean
  pause(): void
  resume(): void
  /** Closes, and tells the other side */
  close(): void
  /** Closes without telling the other side */
  destroy(): void
}

export interface ByteListener {
  data(bytes: Buffer): void
  /** The other side sends no more */
  end(): void
  /**
   * Both sides are done. `isBroken`: it was not the server that ended it; `lost`: explains that it was not the pod
   * either
   */
  close(isBroken: boolean, lost?: () => Promise<unknown>): void
}

/**
 * Wraps `pods/portforward`, which has two channels for each port, data and errors; the first message of each is the
 * port. `lost`: explains a break on the way there.
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

/** Returns a stream that sends on one channel. */
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
