/**
 * The part of AMQP 0-9-1 framing that moves messages. amqplib decodes what it receives, and thereby loses widths of
 * numbers, integers above 2^53 and text that is not UTF-8. So messages are carried as the bytes they came in.
 */
export const methodFrame = 1
export const headerFrame = 2
export const bodyFrame = 3
/** bytes around a payload: type, channel and length before it, and the end mark after it */
export const frameOverhead = 8
const frameEnd = 0xce
/** bodies of at least this many bytes are passed to the socket without a copy */
const copiedBytes = 16_384

/** Receives a frame, whose payload is in `bytes` from `start` to `end`. */
export type OnFrame = (type: number, channel: number, bytes: Buffer, start: number, end: number) => void

/** Cuts what arrives into frames. Throws if it is not frames. */
export class FrameReader {
  #rest: Buffer | null = null
  #missing = 0

  read(chunk: Buffer, onFrame: OnFrame): void {
    if (this.#rest && this.#rest.length + chunk.length < this.#missing) {
      this.#rest = Buffer.concat([this.#rest, chunk])
      return
    }
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
    let at = 0
    this.#missing = 0
    while (bytes.length - at >= 7) {
      const start = at + 7
      const end = start + bytes.readUInt32BE(at + 3)
      if (end >= bytes.length) {
        this.#missing = end + 1 - at
        break
      }
      if (bytes[end] !== frameEnd) throw new Error('Invalid frame')
      onFrame(bytes[at] ?? 0, bytes.readUInt16BE(at + 1), bytes, start, end)
      at = end + 1
    }
    this.#rest = at === bytes.length ? null : bytes.subarray(at)
  }
}

/** Gathers frames to send, so that many of them make one write. */
export class FrameWriter {
  #buffer: Buffer
  #length = 0
  #frame = 0
  readonly #parts: Buffer[] = []

  constructor(size = 65_536) {
    this.#buffer = Buffer.allocUnsafe(size)
  }

  get isEmpty(): boolean {
    return this.#length === 0 && this.#parts.length === 0
  }

  begin(type: number, channel: number): this {
    this.#frame = this.#length
    return this.u8(type).u16(channel).u32(0)
  }

  end(): this {
    this.#buffer.writeUInt32BE(this.#length - this.#frame - 7, this.#frame + 3)
    return this.u8(frameEnd)
  }

  /** Begins a method frame */
  method(channel: number, id: number): this {
    return this.begin(methodFrame, channel).u32(id)
  }

  /** Writes a whole body frame */
  body(channel: number, bytes: Buffer, start: number, end: number): this {
    if (end - start < copiedBytes) return this.begin(bodyFrame, channel).bytes(bytes, start, end).end()
    this.u8(bodyFrame)
      .u16(channel)
      .u32(end - start)
    this.#cut()
    this.#parts.push(bytes.subarray(start, end))
    return this.u8(frameEnd)
  }

  u8(value: number): this {
    this.#need(1)
    this.#buffer[this.#length] = value
    this.#length += 1
    return this
  }

  u16(value: number): this {
    this.#need(2)
    this.#length = this.#buffer.writeUInt16BE(value, this.#length)
    return this
  }

  u32(value: number): this {
    this.#need(4)
    this.#length = this.#buffer.writeUInt32BE(value, this.#length)
    return this
  }

  /** Writes a number below 2^53 */
  u64(value: number): this {
    return this.u32(Math.floor(value / 0x1_0000_0000)).u32(value % 0x1_0000_0000)
  }

  bytes(bytes: Buffer, start = 0, end = bytes.length): this {
    this.#need(end - start)
    bytes.copy(this.#buffer, this.#length, start, end)
    this.#length += end - start
    return this
  }

  short(text: string | Buffer): this {
    const bytes = Buffer.from(text)
    return this.u8(bytes.length).bytes(bytes)
  }

  long(text: string | Buffer): this {
    const bytes = Buffer.from(text)
    return this.u32(bytes.length).bytes(bytes)
  }

  /** Returns what has been gathered, and empties the writer. */
  take(): readonly Buffer[] {
    this.#cut()
    return this.#parts.splice(0)
  }

  #cut(): void {
    if (this.#length === 0) return
    this.#parts.push(this.#buffer.subarray(0, this.#length))
    // the socket may not have sent it yet, so it is not written into again
    this.#buffer = this.#buffer.subarray(this.#length)
    this.#length = 0
  }

  #need(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    const grown = Buffer.allocUnsafe(Math.max(262_144, 2 * (this.#length + bytes)))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }
}

/** Reads a number below 2^53. */
export function readU64(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 0x1_0000_0000 + bytes.readUInt32BE(at + 4)
}

/** Reads a text that has its length before it. Also returns where it ends. */
export function readShort(bytes: Buffer, at: number): { text: string; end: number } {
  const end = at + 1 + (bytes[at] ?? 0)
  return { text: bytes.toString('utf8', at + 1, end), end }
}

/** Methods of AMQP 0-9-1 by their class and number, and those of RabbitMQ's own. */
export const method = {
  connectionStart: 0x000a_000a,
  connectionStartOk: 0x000a_000b,
  connectionTune: 0x000a_001e,
  connectionTuneOk: 0x000a_001f,
  connectionOpen: 0x000a_0028,
  connectionOpenOk: 0x000a_0029,
  connectionClose: 0x000a_0032,
  connectionCloseOk: 0x000a_0033,
  connectionBlocked: 0x000a_003c,
  connectionUnblocked: 0x000a_003d,
  channelOpen: 0x0014_000a,
  channelOpenOk: 0x0014_000b,
  channelClose: 0x0014_0028,
  channelCloseOk: 0x0014_0029,
  exchangeDeclare: 0x0028_000a,
  exchangeDeclareOk: 0x0028_000b,
  exchangeDelete: 0x0028_0014,
  exchangeDeleteOk: 0x0028_0015,
  queueDeclare: 0x0032_000a,
  queueDeclareOk: 0x0032_000b,
  queueBind: 0x0032_0014,
  queueBindOk: 0x0032_0015,
  qos: 0x003c_000a,
  qosOk: 0x003c_000b,
  consume: 0x003c_0014,
  consumeOk: 0x003c_0015,
  cancel: 0x003c_001e,
  cancelOk: 0x003c_001f,
  publish: 0x003c_0028,
  return: 0x003c_0032,
  deliver: 0x003c_003c,
  get: 0x003c_0046,
  getOk: 0x003c_0047,
  getEmpty: 0x003c_0048,
  ack: 0x003c_0050,
  nack: 0x003c_0078,
  confirmSelect: 0x0055_000a,
  confirmSelectOk: 0x0055_000b,
} as const

export const basicClass = 60
