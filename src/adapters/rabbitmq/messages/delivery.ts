import { bodyFrame, headerFrame, methodFrame, readU64 } from './frames.ts'
import { method } from './methods.ts'
import type { Head } from './envelope.ts'

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
