import { connect as connectPlain } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { BrokerEndpoint } from '../../../core/endpoint.ts'
import { ownConnectionName } from '../../../knowledge/broker.ts'
import { placeOf } from '../../failure.ts'
import { tlsOptions } from '../../tls.ts'
import { remembered } from '../connection.ts'
import { FrameReader, FrameWriter, method, methodFrame, readShort } from './frames.ts'
import type { OnFrame } from './frames.ts'

/** The channel of every link. It is the same everywhere, so that the frames of a body pass unchanged between links. */
export const channel = 1
/** bytes of the largest frame to request; RabbitMQ allows 131,072 by default */
const frameMaxWanted = 131_072

/** The broker ended the channel or the connection, with a reply code of AMQP 0-9-1 and its text. */
export class ClosedByBroker extends Error {
  constructor(
    readonly replyCode: number,
    replyText: string,
  ) {
    super(replyText)
  }
}

/** The broker was silent for longer than the deadline. */
export class NoAnswer extends Error {}

export interface LinkUser {
  /** Called with every frame of the channel that no `ask` waits for */
  onFrame: OnFrame
  /** Called after the frames of what arrived at once */
  onPause: () => void
  onFailure: (error: Error) => void
}

/** A connection with one channel, worked with frame by frame. */
export class Link {
  readonly #socket: Socket
  readonly #reader = new FrameReader()
  #frameMax = frameMaxWanted
  #waiting: { id: number; resolve: (payload: Buffer) => void; reject: (error: Error) => void } | null = null
  #user: LinkUser | null = null
  #failure: Error | null = null
  #isChannelOpen = false
  #blocked: string | null = null

  /** Milliseconds to wait for one answer */
  readonly timeoutMs: number

  private constructor(socket: Socket, timeoutMs: number) {
    this.#socket = remembered(socket)
    this.timeoutMs = timeoutMs
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#arrived(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(Object.assign(new Error('socket closed'), { code: 'ECONNRESET' })))
  }

  /** Connects and signs in. `shakeHands` has already verified the password, and explains what can be wrong with it. */
  static async open(endpoint: BrokerEndpoint, timeoutMs: number): Promise<Link> {
    const link = new Link(await socketTo(endpoint), timeoutMs)
    try {
      await link.#signIn(endpoint)
      return link
    } catch (error) {
      link.destroy()
      throw error
    }
  }

  /** Most bytes of a frame, including what is around its payload */
  get frameMax(): number {
    return this.#frameMax
  }

  get isUsable(): boolean {
    return this.#failure === null
  }

  get isChannelOpen(): boolean {
    return this.#isChannelOpen && this.isUsable
  }

  /** Why the broker accepts nothing from this connection, for example 'low on disk'; null if it does */
  get blocked(): string | null {
    return this.#blocked
  }

  /** Sets who receives what arrives on the channel; null for nobody. */
  use(user: LinkUser | null): void {
    this.#user = user
  }

  async openChannel(): Promise<void> {
    await this.ask(method.channelOpenOk, (out) => out.method(channel, method.channelOpen).u8(0).end())
    this.#isChannelOpen = true
  }

  /** Closes the channel, which returns messages that were delivered but not acknowledged to their place. */
  async closeChannel(): Promise<void> {
    if (this.#failure || !this.#isChannelOpen) return
    this.#isChannelOpen = false
    await this.ask(method.channelCloseOk, (out) => out.method(channel, method.channelClose).u16(200).u8(0).u32(0).end())
  }

  /** Sends a method and returns the payload of its answer, after class and number. */
  async ask(id: number, write: (out: FrameWriter) => unknown): Promise<Buffer> {
    if (this.#failure) throw this.#failure
    const answer = this.#answer(id)
    const out = new FrameWriter(1024)
    write(out)
    this.send(out)
    return answer
  }

  async #answer(id: number): Promise<Buffer> {
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<Buffer>((resolve, reject) => {
        this.#waiting = { id, resolve, reject }
        timer = setTimeout(() => reject(new NoAnswer()), this.timeoutMs)
      })
    } finally {
      clearTimeout(timer)
    }
  }

  send(out: FrameWriter): void {
    const parts = out.take()
    if (parts.length === 1) {
      this.#socket.write(parts[0] ?? '')
      return
    }
    this.#socket.cork()
    for (const part of parts) this.#socket.write(part)
    this.#socket.uncork()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  destroy(): void {
    this.#failure ??= new Error('closed')
    this.#socket.destroy()
  }

  async close(): Promise<void> {
    if (!this.#failure) {
      await this.ask(method.connectionCloseOk, (out) =>
        out.method(0, method.connectionClose).u16(200).u8(0).u32(0).end(),
      )
    }
    this.destroy()
  }

  async #signIn({ user, password, vhost }: BrokerEndpoint): Promise<void> {
    const hello = this.#answer(method.connectionStart)
    this.#socket.write(Buffer.from('AMQP\u0000\u0000\u0009\u0001', 'latin1'))
    await hello
    const tune = await this.ask(method.connectionTune, (out) => {
      out.method(0, method.connectionStartOk)
      writeTable(out, clientProperties)
      out
        .short('PLAIN')
        .long(`\u0000${user}\u0000${password?.reveal() ?? ''}`)
        .short('en_US')
        .end()
    })
    const offered = tune.readUInt32BE(2)
    this.#frameMax = offered === 0 ? frameMaxWanted : Math.min(offered, frameMaxWanted)
    await this.ask(method.connectionOpenOk, (out) => {
      out.method(0, method.connectionTuneOk).u16(tune.readUInt16BE(0)).u32(this.#frameMax).u16(0).end()
      out.method(0, method.connectionOpen).short(vhost).u8(0).u8(0).end()
    })
  }

  #arrived(chunk: Buffer): void {
    try {
      this.#reader.read(chunk, this.#frame)
      this.#user?.onPause()
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  readonly #frame: OnFrame = (type, on, bytes, start, end) => {
    if (type === methodFrame) {
      const id = bytes.readUInt32BE(start)
      if (this.#waiting?.id === id) {
        const { resolve } = this.#waiting
        this.#waiting = null
        resolve(bytes.subarray(start + 4, end))
        return
      }
      if (id === method.channelClose || id === method.connectionClose) return this.#closedByBroker(id, bytes, start + 4)
      if (on === 0) {
        if (id === method.connectionBlocked) this.#blocked = readShort(bytes, start + 4).text
        if (id === method.connectionUnblocked) this.#blocked = null
        return
      }
    }
    if (on !== 0) this.#user?.onFrame(type, on, bytes, start, end)
  }

  #closedByBroker(id: number, bytes: Buffer, at: number): void {
    const error = new ClosedByBroker(bytes.readUInt16BE(at), readShort(bytes, at + 2).text)
    const out = new FrameWriter(64)
    if (id === method.connectionClose) {
      this.send(out.method(0, method.connectionCloseOk).end())
      return this.#fail(error)
    }
    this.send(out.method(channel, method.channelCloseOk).end())
    this.#isChannelOpen = false
    this.#tell(error)
  }

  #fail(error: Error): void {
    if (this.#failure) return
    this.#failure = error
    this.#socket.destroy()
    this.#tell(error)
  }

  #tell(error: Error): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting) waiting.reject(error)
    else this.#user?.onFailure(error)
  }
}

async function socketTo({ host, port, tls, reach }: BrokerEndpoint): Promise<Socket> {
  const place = await placeOf({ host, port, reach })
  if (tls.mode !== 'require' && tls.mode !== 'verify') return connectPlain(place)
  return connectTls({ ...place, ...tlsOptions(host, { verify: tls.mode === 'verify', ca: tls.ca }) })
}

type Table = { readonly [name: string]: string | boolean | Table }

const clientProperties: Table = {
  product: 'testops-admin',
  connection_name: ownConnectionName,
  capabilities: {
    publisher_confirms: true,
    'basic.nack': true,
    consumer_cancel_notify: true,
    'connection.blocked': true,
    authentication_failure_close: true,
  },
}

/** Writes a table of arguments. */
export function writeTable(out: FrameWriter, table: Table): void {
  const inner = new FrameWriter(1024)
  for (const [name, value] of Object.entries(table)) {
    inner.short(name)
    if (typeof value === 'string') inner.u8('S'.charCodeAt(0)).long(value)
    else if (typeof value === 'boolean') inner.u8('t'.charCodeAt(0)).u8(value ? 1 : 0)
    else {
      inner.u8('F'.charCodeAt(0))
      writeTable(inner, value)
    }
  }
  out.long(Buffer.concat(inner.take()))
}
