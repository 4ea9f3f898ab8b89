import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ClientOptions, WebSocket } from 'ws'
import { seconds } from '../../adapters/failure.ts'
import { AdminError } from '../../core/error.ts'

/** The way to the API server, as far as streams need it. */
export interface StreamServer {
  /** for people: what is asked, as `pods/portforward of \`testops-postgresql-0\`` */
  what: string
  /** what a WebSocket is opened with, credentials included */
  dial: () => Promise<{ url: string; options: ClientOptions }>
  /** what it means that the server does not open one */
  refused: (answer: { status: number; text: string; contentType: string }) => AdminError
  /** what it means that there is no connection to it */
  unreached: (error: unknown) => AdminError
  timeoutMs: number
  /** how often a stream shows that it is alive; it is broken after two silences */
  pingMs?: number
}

/** How a stream ended: as both sides intended, or broken. */
interface StreamEnd {
  isBroken: boolean
  why: string
}

/**
 * Several channels over one WebSocket: each message begins with the number of its channel (kubernetes.io, "Kubernetes
 * API Concepts"; KEP-4006).
 */
export interface Channels {
  readonly isOpen: boolean
  /** Tells each message from then on, those that have come already too. */
  use(onMessage: (channel: number, bytes: Buffer) => void, onEnd: (end: StreamEnd) => void): void
  /** `sent` is called when it has left, and more may be sent */
  send(channel: number, bytes: Uint8Array, sent?: () => void): void
  /** says that no more comes on a channel, where the protocol has a word for it (v5) */
  end(channel: number): boolean
  pause(): void
  resume(): void
  /** says good-bye */
  close(): void
  /** without */
  destroy(): void
}

const pingMs = 30_000
/** how much of a refusal is read */
const maxRefusal = 10_000
/** the channel on which one that ends is named */
export const closeSignal = 255

/** What is understood; before v5 there is no word for the end of what is sent. */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']

/** Opens a stream by the first of the protocols that the server knows. Throws what `StreamServer` says, TIMED_OUT. */
export async function openChannels(server: StreamServer): Promise<Channels> {
  const [{ WebSocket: Client }, { url, options }] = await Promise.all([import('ws'), server.dial()])
  const socket = new Client(url, protocols, {
    ...options,
    perMessageDeflate: false,
    followRedirects: false,
    handshakeTimeout: server.timeoutMs,
  })
  // a stream that breaks must never end the process; whoever uses it is told by its end
  socket.on('error', () => undefined)
  await opened(socket, server)
  return channelsOf(socket, server.pingMs ?? pingMs)
}

async function opened(socket: WebSocket, server: StreamServer): Promise<void> {
  const { what, timeoutMs } = server
  let timer: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      // beside the handshake's own deadline, which does not count what a refusal says
      timer = setTimeout(
        () => reject(new AdminError('TIMED_OUT', `the API server did not open ${what} within ${seconds(timeoutMs)}`)),
        timeoutMs,
      )
      socket.once('open', () => {
        // what comes before somebody listens waits
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
      end({ isBroken: true, why: 'it is silent' })
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
