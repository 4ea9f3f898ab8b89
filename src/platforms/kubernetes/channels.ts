import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ClientOptions, WebSocket } from 'ws'
import { seconds } from '../../adapters/failure.ts'
import { AdminError } from '../../core/error.ts'
import type { KubernetesClient } from './client.ts'
import type { Asked } from './objects.ts'

/** The way to the API server, as far as streams need it. */
export interface StreamServer {
  /** For people: what is asked, as `pods/portforward of \`testops-postgresql-0\`` */
  what: string
  /** Returns what to open a WebSocket with, credentials included */
  dial: () => Promise<{ url: string; options: ClientOptions }>
  /** Returns the error for a server that does not open the stream */
  refused: (answer: { status: number; text: string; contentType: string }) => AdminError
  /** Returns the error for a server that cannot be reached */
  unreached: (error: unknown) => AdminError
  timeoutMs: number
  /** Milliseconds between signs of life; a stream is broken after two silences */
  pingMs?: number
}

/** How a stream ended: as both sides intended, or broken. */
interface StreamEnd {
  isBroken: boolean
  why: string
}

/**
 * Several channels over one WebSocket; each message begins with the number of its channel (kubernetes.io, "Kubernetes
 * API Concepts"; KEP-4006).
 */
export interface Channels {
  readonly isOpen: boolean
  /** Passes on each message from now on, and those that have come already. */
  use(onMessage: (channel: number, bytes: Buffer) => void, onEnd: (end: StreamEnd) => void): void
  /** Sends bytes; calls `sent` when they have left, and more may be sent */
  send(channel: number, bytes: Uint8Array, sent?: () => void): void
  /** Says that no more comes on a channel; false if the protocol has no word for it (before v5) */
  end(channel: number): boolean
  pause(): void
  resume(): void
  /** Closes, and tells the other side */
  close(): void
  /** Closes without telling the other side */
  destroy(): void
}

const pingMs = 30_000
/** Maximum characters of a refusal that are kept */
const maxRefusal = 10_000
/** Number of the channel that names a channel that ends */
const closeSignal = 255

/** Protocols that are understood, preferred first; none before v5 can say that no more is sent. */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']

/** Opens a stream by the first protocol that the server knows. Throws what `StreamServer` returns, TIMED_OUT. */
export async function openChannels(server: StreamServer): Promise<Channels> {
  const [{ WebSocket: Client }, { url, options }] = await Promise.all([import('ws'), server.dial()])
  const socket = new Client(url, protocols, {
    ...options,
    perMessageDeflate: false,
    followRedirects: false,
    handshakeTimeout: server.timeoutMs,
  })
  // a stream that breaks must never end the process; its user sees the end
  socket.on('error', () => undefined)
  await opened(socket, server)
  return channelsOf(socket, server.pingMs ?? pingMs)
}

async function opened(socket: WebSocket, server: StreamServer): Promise<void> {
  const { what, timeoutMs } = server
  let timer: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      // beside the handshake's own deadline, which does not cover reading a refusal
      timer = setTimeout(
        () =>
          reject(
            new AdminError(
              'TIMED_OUT',
              `the API server did not open the stream for ${what} within ${seconds(timeoutMs)}`,
            ),
          ),
        timeoutMs,
      )
      socket.once('open', () => {
        // messages wait until somebody listens
        socket.pause()
        resolve()
      })
      socket.once('error', (error) => reject(server.unreached(error)))
      socket.once('unexpected-response', (_, response) => {
        refusalIn(response).then(
          (answer) => reject(server.refused(answer)),
          (error: unknown) => reject(server.unreached(error)),
        )
      })
    })
  } catch (error) {
    socket.terminate()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

async function refusalIn(response: IncomingMessage): Promise<{ status: number; text: string; contentType: string }> {
  const all = await text(response)
  return {
    status: response.statusCode ?? 0,
    text: all.slice(0, maxRefusal),
    contentType: response.headers['content-type'] ?? '',
  }
}

function channelsOf(socket: WebSocket, everyMs: number): Channels {
  let ended: StreamEnd | null = null
  let onEnd: (end: StreamEnd) => void = () => undefined
  let isHeard = true
  const end = (how: StreamEnd): void => {
    if (ended) return
    ended = how
    clearInterval(timer)
    onEnd(how)
  }
  const timer = setInterval(() => {
    // while nothing is read, no answer can be heard either
    if (!isHeard && !socket.isPaused) {
      end({ isBroken: true, why: 'it stopped answering' })
      return socket.terminate()
    }
    isHeard = false
    socket.ping()
  }, everyMs)
  timer.unref()
  for (const sign of ['pong', 'message'] as const) socket.on(sign, () => (isHeard = true))
  socket.on('error', (error) => end({ isBroken: true, why: error.message }))
  socket.on('close', (code, reason) =>
    end({ isBroken: code !== 1000, why: reason.toString() || `closed with ${code}` }),
  )
  return {
    get isOpen() {
      return ended === null
    },
    use(onMessage, then) {
      onEnd = then
      if (ended) return then(ended)
      socket.on('message', (data: Buffer) => {
        if (data.length > 0) onMessage(data[0]!, data.subarray(1))
      })
      socket.resume()
    },
    send(channel, bytes, sent) {
      const frame = Buffer.allocUnsafe(bytes.length + 1)
      frame[0] = channel
      frame.set(bytes, 1)
      socket.send(frame, () => sent?.())
    },
    end(channel) {
      if (socket.protocol !== 'v5.channel.k8s.io') return false
      socket.send(Buffer.from([closeSignal, channel]))
      return true
    },
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close() {
      // a peer that is gone does not say good-bye
      socket.resume()
      socket.close(1000)
    },
    destroy: () => socket.terminate(),
  }
}

export interface StreamOptions {
  timeoutMs: number
  /** Milliseconds between signs that it is alive */
  pingMs?: number
}

/** Opens a stream to a pod. `what`: for people. Throws as the client does, UNAVAILABLE, TIMED_OUT. */
export async function openStream(
  client: KubernetesClient,
  asked: Asked,
  what: string,
  { timeoutMs, pingMs }: StreamOptions,
): Promise<Channels> {
  return openChannels({
    what,
    async dial() {
      const { url, ...how } = await client.socket(asked)
      return { url, options: how }
    },
    refused: (answer) => client.refused(asked, answer),
    unreached: (error) => client.unreached(error),
    timeoutMs,
    ...(pingMs !== undefined && { pingMs }),
  })
}

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
