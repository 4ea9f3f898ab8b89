import type { Head } from './envelope.ts'
import { bodyFrame, headerFrame, method, methodFrame, readU64 } from './frames.ts'

/** Receives what a queue delivers, message by message, while its frames arrive. */
export interface DeliveryUser {
  onHead: (head: Head, redelivered: boolean) => void
  /** Called with a part of the body */
  onBody: (bytes: Buffer, start: number, end: number) => void
  /** Called when the message is complete */
  onEnd: () => void
  onCancel: () => void
  /** Called when a requested consumer exists */
  onConsumer?: () => void
}

/** Assembles deliveries from frames. */
export class Deliveries {
  /** tag of the last delivery; they count from 1 on each channel, without a gap */
  delivered = 0
  #exchange: Buffer = Buffer.alloc(1)
  #routingKey: Buffer = Buffer.alloc(1)
  #redelivered = false
  #missing = 0
  readonly #user: DeliveryUser

  constructor(user: DeliveryUser) {
    this.#user = user
  }

  /** True if a message has begun and not ended */
  get isWithin(): boolean {
    return this.#missing > 0
  }

  frame(type: number, bytes: Buffer, start: number, end: number): void {
    if (type === bodyFrame) {
      this.#missing -= end - start
      this.#user.onBody(bytes, start, end)
      if (this.#missing === 0) this.#user.onEnd()
    } else if (type === headerFrame) {
      const bodyBytes = readU64(bytes, start + 4)
      const properties = { bytes, start: start + 12, end }
      this.#missing = bodyBytes
      this.#user.onHead(
        { exchange: this.#exchange, routingKey: this.#routingKey, properties, bodyBytes },
        this.#redelivered,
      )
      if (bodyBytes === 0) this.#user.onEnd()
    } else if (type === methodFrame) {
      const id = bytes.readUInt32BE(start)
      // the name of the consumer comes first
      if (id === method.deliver) this.#begin(bytes, start + 5 + (bytes[start + 4] ?? 0))
      else if (id === method.getOk) this.#begin(bytes, start + 4)
      else if (id === method.cancel) this.#user.onCancel()
      else if (id === method.consumeOk) this.#user.onConsumer?.()
    }
  }

  #begin(bytes: Buffer, tag: number): void {
    this.delivered = readU64(bytes, tag)
    this.#redelivered = bytes[tag + 8] === 1
    const exchange = tag + 9
    const routingKey = exchange + 1 + (bytes[exchange] ?? 0)
    this.#exchange = bytes.subarray(exchange, routingKey)
    this.#routingKey = bytes.subarray(routingKey, routingKey + 1 + (bytes[routingKey] ?? 0))
  }
}

/**
 * The broker's answers to messages, which count from 1. It accepts or refuses them one by one, or all up to one, in any
 * order.
 */
export class Confirms {
  /** The broker has answered all messages up to this one */
  answered = 0
  readonly #ahead = new Set<number>()
  #firstRefused = Infinity

  /** The broker has accepted all messages up to this one */
  get upTo(): number {
    return Math.min(this.answered, this.#firstRefused - 1)
  }

  confirm(tag: number, multiple: boolean): void {
    if (multiple) {
      if (tag > this.answered) this.answered = tag
      for (const early of this.#ahead) if (early <= this.answered) this.#ahead.delete(early)
    } else if (tag > this.answered) this.#ahead.add(tag)
    while (this.#ahead.delete(this.answered + 1)) this.answered += 1
  }

  /** Records a refusal. If it is of several messages, it is assumed to begin with the first unanswered one. */
  refuse(tag: number, multiple: boolean): void {
    this.#firstRefused = Math.min(this.#firstRefused, multiple ? this.answered + 1 : tag)
    this.confirm(tag, multiple)
  }
}

/** bytes that may be under way, so that large messages do not exhaust the memory of the broker or this program */
const budgetBytes = 64 * 1024 * 1024
/** the most messages under way */
const most = 4000
/** messages requested while their size is unknown */
const first = 16

/** The number of messages that may be unacknowledged, by the sizes seen so far. */
export class Window {
  size = first
  #average = 0
  #seen = 0

  /** Records the size of a message. Returns true if `size` has changed. */
  saw(bytes: number): boolean {
    this.#seen += 1
    this.#average += (bytes - this.#average) / Math.min(this.#seen, 16)
    const fits = Math.max(1, Math.min(most, Math.floor(budgetBytes / Math.max(this.#average, 1))))
    const isSmaller = fits * 2 <= this.size
    // only after several: one small message says little about the next
    const isLarger = fits >= this.size * 2 && this.#seen >= this.size / 2
    if (!isSmaller && !isLarger) return false
    this.size = fits
    this.#seen = 0
    return true
  }
}
