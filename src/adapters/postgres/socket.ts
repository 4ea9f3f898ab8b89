import { connect, isIP } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { AdminError } from '../../core/error.ts'
import { listenersOn, typedOn } from '../../core/host.ts'
import type { Tls } from '../../core/endpoint.ts'
import { oneLine, placeOf, readable } from '../failure.ts'
import type { Peer } from '../failure.ts'

/** The frame that asks a PostgreSQL server for TLS. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/**
 * Opens a connection to PostgreSQL before its first message, encrypted as `tls` says. With pgjdbc's `prefer`, encrypts
 * it if the server offers TLS. `onSocket` gets the socket at once, so that a deadline can destroy it.
 */
export async function openSocket(peer: Peer, tls: Tls, onSocket: (socket: Socket) => void): Promise<Socket> {
  const place = await placeOf(peer)
  const socket = place.host.startsWith('/') ? connect(`${place.host}/.s.PGSQL.${place.port}`) : connect(place)
  onSocket(socket)
  // a reset must never end the process; other listeners report it to the callers
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (tls.mode === 'disable' || peer.host.startsWith('/')) return socket
  socket.write(sslRequest)
  const answer = await firstBytes(socket)
  if (answer[0] === 0x53) return secure(socket, peer, tls)
  if (answer[0] === 0x4e && answer.length === 1) {
    if (tls.mode === 'prefer') return socket
    socket.destroy()
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `PostgreSQL at ${peer.where} offers no TLS, but the configuration requires it`,
      peer.suggestions,
      { obstacle: { kind: 'tls', host: peer.host, port: peer.port } },
    )
  }
  socket.destroy()
  throw strangeAnswer(answer, peer)
}

/** Returns the error for a server that is not PostgreSQL, or that is too busy to fork a process. */
function strangeAnswer(answer: Buffer, peer: Peer): AdminError {
  const text = answer.subarray(1).toString('utf8')
  if (answer[0] === 0x45 && /could not fork/.test(text)) {
    return new AdminError(
      'EXHAUSTED',
      `PostgreSQL at ${peer.where} cannot start another process: ${oneLine(text)}`,
      peer.suggestions,
    )
  }
  const line = readable(answer)
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `the server at ${peer.host}:${peer.port} is not PostgreSQL${line ? `: it answered '${line}'` : ''}`,
    [typedOn(peer.host, listenersOn(peer.port))],
  )
}

async function secure(socket: Socket, peer: Peer, tls: Tls): Promise<Socket> {
  const encrypted = connectTls({
    socket,
    host: peer.host,
    rejectUnauthorized: tls.mode === 'verify',
    ...(isIP(peer.host) === 0 ? { servername: peer.host } : {}),
    ...(tls.ca === null ? {} : { ca: tls.ca }),
  })
  encrypted.on('error', () => undefined)
  await once(encrypted, 'secureConnect')
  return encrypted
}

async function once(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once(event, resolve)
    socket.once('error', reject)
    socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  })
}

async function firstBytes(socket: Socket): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    socket.once('data', (bytes: Buffer) => {
      socket.pause()
      resolve(bytes)
    })
    socket.once('error', reject)
    socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  })
}
