import type { Socket } from 'node:net'
import { AdminError } from '../../core/error.ts'
import type { Opened, Way } from '../../core/endpoint.ts'
import { listenHere } from '../listen.ts'
import type { ByteStream } from './channels.ts'

/** Milliseconds to wait for the last answer, once a client has said all that it has to say */
const lingerMs = 1000

/**
 * Listens on this machine; each connection has a stream of its own. Opens the first stream at once, and throws what
 * `open` throws. Resets a connection whose stream cannot be opened later, or breaks; `brokenSince` tells why.
 */
export async function listenForward(open: () => Promise<ByteStream>): Promise<Opened<Omit<Way, 'command'>>> {
  const streams = new Set<ByteStream>()
  let isClosed = false
  let last: { at: number; why: () => Promise<unknown> } | null = null
  const broken = (why: () => Promise<unknown>): void => {
    if (!isClosed) last = { at: performance.now(), why }
  }
  const opened = async (): Promise<ByteStream> => {
    const stream = await open()
    // nobody else would end it any more
    if (isClosed) stream.destroy()
    else streams.add(stream)
    return stream
  }
  let ready: ByteStream | null = await opened()
  const listening = await listenHere((socket) => {
    const held = ready
    ready = null
    const opening = held?.isOpen ? Promise.resolve(held) : opened()
    const over = (stream: ByteStream, lost?: () => Promise<unknown>): void => {
      streams.delete(stream)
      if (lost) broken(lost)
    }
    opening.then(
      (stream) => join(socket, stream, (lost) => over(stream, lost)),
      (error: unknown) => {
        broken(async () => error)
        socket.resetAndDestroy()
      },
    )
  }).catch((error: unknown) => {
    ready?.destroy()
    throw error
  })
  return {
    source: {
      ...listening.source,
      async brokenSince(time) {
        const why = last !== null && last.at >= time ? await last.why() : null
        return why instanceof AdminError && why.code !== 'INTERRUPTED' ? why : null
      },
    },
    async close() {
      isClosed = true
      const closed = listening.close()
      for (const stream of streams) stream.destroy()
      await closed
    },
  }
}

/** Passes data on in both directions, no faster than each side reads. */
function join(socket: Socket, stream: ByteStream, over: (lost?: () => Promise<unknown>) => void): void {
  let linger: NodeJS.Timeout | undefined
  const lingering = (): void => {
    clearTimeout(linger)
    linger = setTimeout(() => stream.close(), lingerMs)
  }

  stream.use({
    data(bytes) {
      if (socket.destroyed) return
      if (linger) lingering()
      if (!socket.write(bytes)) stream.pause()
    },
    end: () => void socket.end(),
    close(isBroken, lost) {
      clearTimeout(linger)
      over(isBroken && !socket.destroyed ? lost : undefined)
      // a reset shows the client that it was not the server that ended the connection
      if (isBroken) socket.resetAndDestroy()
      else socket.end()
    },
  })
  // what is full when the server ends it never drains
  for (const event of ['drain', 'finish'] as const) socket.on(event, () => stream.resume())
  socket.on('data', (bytes) => {
    socket.pause()
    stream.send(bytes, () => socket.resume())
  })
  socket.on('end', () => {
    if (!stream.end()) lingering()
  })
  socket.on('close', () => {
    clearTimeout(linger)
    stream.close()
  })
  if (socket.destroyed) stream.close()
  else socket.resume()
}
