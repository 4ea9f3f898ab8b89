import { AdminError } from '../../../core/error.ts'
import { counted } from '../../../core/format.ts'
import type { Move, Moved, MoverFailpoint } from '../../../core/message-mover.ts'
import { Confirms, Deliveries, Window } from './delivery.ts'
import type { Conversion } from './conversion.ts'
import { FrameWriter, method, methodFrame, readShort, readU64 } from './frames.ts'
import { ClosedByBroker, channel } from './link.ts'
import type { Link, LinkUser } from './link.ts'
import { cancel, consume, look } from './queues.ts'
import { Refusal } from './failure.ts'
import type { Room } from './queues.ts'

/** flags of `basic.ack` and `basic.nack` */
const multiple = 1
const requeue = 2
/** messages under way of a queue that was taken over; other queues may have more */
const keptWindow = 32
/** milliseconds for a broker that still answers to confirm what it was sent, once the rest has failed */
const answerMs = 2000

interface Ends {
  /** Links that messages are delivered from and published to, each with an unused channel */
  source: Link
  target: Link
  conversion: Conversion
  /** Room in the queue `to`; null if it has enough */
  room: Room | null
}

/**
 * Publishes what a queue delivers, and acknowledges what the broker has confirmed. The n-th delivery is the n-th
 * publication, so the number of a confirmation is the tag to acknowledge. An acknowledgement covers all up to one: the
 * queue always holds its unacknowledged rest, in order.
 */
export class Transfer {
  readonly #ends: Ends
  readonly #move: Move
  readonly #out = new FrameWriter()
  readonly #window = new Window()
  readonly #confirms = new Confirms()
  readonly #deliveries: Deliveries
  #published = 0
  /** how many of these have really left */
  #sent = 0
  #acknowledged = 0
  #redelivered = 0
  #bytes = 0
  #consumers = 0
  /** the window's size differs from the consumer's */
  #isOutgrown = false
  /** RabbitMQ 3.10's channel crashes if a consumer is cancelled before the broker has confirmed it */
  #isAwaitingConsumer = false
  #isSkipping = false
  #isStopped = false
  #isRefused = false
  #isReturned = false
  #exclusive = true
  #failure: Error | null = null
  #activity = 0
  /** deliveries that do not count: those before a queue was taken over */
  #givenBack = 0
  #isTakingOver: boolean
  #wake: () => void = () => undefined

  constructor(ends: Ends, move: Move) {
    this.#ends = ends
    this.#move = move
    this.#isTakingOver = move.kept !== undefined
    this.#deliveries = new Deliveries({
      onHead: (head, redelivered) => {
        this.#activity += 1
        this.#isSkipping =
          this.#isStopped ||
          this.#isRefused ||
          this.#failure !== null ||
          this.#isTakingOver ||
          this.#deliveries.delivered <= this.#givenBack
        if (this.#isSkipping) return
        this.#published += 1
        if (redelivered && !move.kept) this.#redelivered += 1
        this.#bytes = head.bodyBytes + head.properties.end - head.properties.start
        // all messages of a queue that was taken over were delivered before, to the consumer that kept it
        this.#convert(() => ends.conversion.head(this.#out, head, redelivered && !move.kept))
      },
      onBody: (bytes, start, end) => {
        this.#activity += 1
        if (!this.#isSkipping) this.#convert(() => ends.conversion.body(this.#out, bytes, start, end))
      },
      onEnd: () => {
        if (!this.#isSkipping) this.#convert(() => ends.conversion.end(this.#out))
        // a queue that vanishes with its last consumer must not lose its only one
        if (this.#isSkipping || move.kept || ends.room) return
        if (this.#window.saw(this.#bytes)) this.#isOutgrown = true
        if (this.#isOutgrown && !this.#isAwaitingConsumer) this.#consumeAnew()
      },
      onConsumer: () => (this.#isAwaitingConsumer = false),
      onCancel: () => this.#fail(gone(move.from)),
    })
  }

  async run(): Promise<Moved> {
    const { source, target } = this.#ends
    const { signal } = this.#move
    const stop = (): void => {
      this.#isStopped = true
      this.#wake()
    }
    signal?.addEventListener('abort', stop)
    try {
      if (signal?.aborted) stop()
      source.use(this.#sourceUser)
      target.use(this.#targetUser)
      await target.ask(method.confirmSelectOk, (out) => out.method(channel, method.confirmSelect).u8(0).end())
      await this.#failpoint('opened')
      await this.#begin()
      if (this.#move.kept) await this.#takeOver(this.#move.kept)
      await this.#untilEmpty()
      await this.#failpoint('emptied')
      return this.#moved()
    } finally {
      signal?.removeEventListener('abort', stop)
      // confirmed messages are acknowledged even if the rest failed, so that they are not there twice
      await this.#untilAnswered()
      if (source.isUsable) this.#acknowledge()
      source.use(null)
      target.use(null)
    }
  }

  /** Counter that grows with every message, part of one and confirmation */
  get activity(): number {
    return this.#activity
  }

  /** Ends the transfer. `run` throws the first error. */
  fail(error: Error): void {
    this.#fail(error)
  }

  #convert(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#isSkipping = true
      this.#fail(error as Error)
    }
  }

  #moved(): Moved {
    const { othersIds, leftOut, again } = this.#ends.conversion
    return {
      moved: this.#acknowledged,
      perhapsTwice: this.#redelivered,
      othersIds,
      leftOut,
      again,
      contents: this.#ends.conversion.contents(),
    }
  }

  async #untilEmpty(): Promise<void> {
    for (;;) {
      await this.#untilSettled()
      if (this.#isStopped) throw interrupted(this.#move, this.#acknowledged)
      const before = this.#deliveries.delivered
      // the second answer comes after all deliveries that were under way at the first
      const looks = [await look(this.#ends.source, this.#move.from), await look(this.#ends.source, this.#move.from)]
      const isQuiet = before === this.#deliveries.delivered && this.#isSettled
      if (isQuiet && looks.every(({ ready }) => ready === 0)) return
      // a quorum queue counts cancelled consumers until their messages are acknowledged
      if (looks.some(({ consumers }) => consumers > this.#consumers)) throw readByOthers(this.#move.from)
      if (isQuiet) await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** Waits after a failure for the broker to confirm what it was sent. */
  async #untilAnswered(): Promise<void> {
    const { source, target } = this.#ends
    const isDue = (): boolean =>
      source.isUsable && target.isUsable && !this.#isReturned && this.#confirms.answered < this.#sent
    for (const end = performance.now() + answerMs; isDue() && performance.now() < end; )
      await new Promise((resolve) => setTimeout(resolve, 5))
  }

  get #isSettled(): boolean {
    const all = this.#isStopped ? this.#published : this.#deliveries.delivered - this.#givenBack
    return this.#acknowledged === all
  }

  async #untilSettled(): Promise<void> {
    while (!this.#isSettled || this.#failure !== null) {
      if (this.#failure !== null) throw this.#failure
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  readonly #sourceUser: LinkUser = {
    onFrame: (type, _, bytes, start, end) => this.#deliveries.frame(type, bytes, start, end),
    onPause: () => {
      if (this.#failure !== null || this.#out.isEmpty) return
      this.#ends.target.send(this.#out)
      this.#sent = this.#published
      if (this.#move.failpoint) this.#hold(async () => this.#failpoint('published'))
    },
    onFailure: (error) => this.#fail(error),
  }

  readonly #targetUser: LinkUser = {
    onFrame: (type, _, bytes, start) => {
      // a returned message is confirmed next, but must not be acknowledged
      if (type !== methodFrame || this.#isReturned) return
      this.#activity += 1
      const id = bytes.readUInt32BE(start)
      if (id === method.ack) this.#confirms.confirm(readU64(bytes, start + 4), bytes[start + 12] === 1)
      else if (id === method.nack) {
        this.#isRefused = true
        this.#confirms.refuse(readU64(bytes, start + 4), ((bytes[start + 12] ?? 0) & 1) === 1)
      } else if (id === method.return) {
        this.#isReturned = true
        this.#fail(notTaken(this.#move.to, readShort(bytes, start + 6).text))
      }
    },
    onPause: () => {
      const { upTo, answered } = this.#confirms
      // wait until all that was published is answered
      if (this.#isRefused && answered === this.#published)
        this.#fail(notTaken(this.#move.to, 'the queue is full and set to reject new messages'))
      const enough = upTo - this.#acknowledged >= this.#most / 4 || upTo === this.#published
      if (this.#failure !== null || upTo === this.#acknowledged || !enough) return
      const { room } = this.#ends
      if (!this.#move.failpoint && room === null) return this.#acknowledge()
      this.#hold(async () => {
        await this.#failpoint('confirmed')
        // takes them before others may come in their place
        await room?.take(upTo - this.#acknowledged)
        this.#acknowledge()
        await this.#failpoint('acked')
      })
    },
    onFailure: (error) => this.#fail(error),
  }

  #acknowledge(): void {
    const { upTo } = this.#confirms
    if (upTo === this.#acknowledged) return
    this.#ends.source.send(
      new FrameWriter(64)
        .method(channel, method.ack)
        .u64(upTo + this.#givenBack)
        .u8(multiple)
        .end(),
    )
    this.#acknowledged = upTo
    this.#move.onProgress?.({ moved: upTo })
    if (this.#isSettled) this.#wake()
  }

  async #begin(): Promise<void> {
    const { source } = this.#ends
    const ask = async (): Promise<unknown> => source.ask(method.consumeOk, (out) => this.#writeConsume(out))
    try {
      await ask()
    } catch (error) {
      // nobody reads it, so it has `x-single-active-consumer`, which allows no exclusive consumer
      if (!(error instanceof ClosedByBroker && error.replyCode === 403 && / in exclusive use/.test(error.message)))
        throw error
      this.#exclusive = false
      await source.openChannel()
      await ask()
    }
  }

  /**
   * Takes over from another consumer of ours, which holds a message. After it releases the queue and nothing is under
   * way, returns all deliveries at once. So the queue stays, and delivers everything in its order.
   */
  async #takeOver({ release }: NonNullable<Move['kept']>): Promise<void> {
    await release()
    await this.#untilDelivered()
    this.#givenBack = this.#deliveries.delivered
    this.#isTakingOver = false
    if (this.#givenBack === 0) return
    this.#ends.source.send(
      new FrameWriter(64)
        .method(channel, method.nack)
        .u64(this.#givenBack)
        .u8(multiple | requeue)
        .end(),
    )
  }

  async #untilDelivered(): Promise<void> {
    for (;;) {
      const before = this.#deliveries.delivered
      await look(this.#ends.source, this.#move.from)
      const { ready } = await look(this.#ends.source, this.#move.from)
      if (this.#failure !== null) throw this.#failure
      if (this.#deliveries.delivered === before && (ready === 0 || before >= keptWindow)) return
    }
  }

  #consumeAnew(): void {
    this.#isOutgrown = false
    this.#isAwaitingConsumer = true
    const out = new FrameWriter(1024)
    cancel(out, this.#consumers)
    this.#writeConsume(out)
    this.#ends.source.send(out)
  }

  #writeConsume(out: FrameWriter): void {
    this.#consumers += 1
    consume(out, {
      queue: this.#move.from,
      consumer: this.#consumers,
      prefetch: this.#most,
      exclusive: this.#exclusive && !this.#move.kept,
    })
  }

  /** Most messages under way */
  get #most(): number {
    return this.#move.kept ? keptWindow : (this.#ends.room?.atOnce ?? this.#window.size)
  }

  #fail(error: Error): void {
    this.#failure ??= error
    this.#wake()
  }

  /** Runs `work` while both links are paused */
  #hold(work: () => Promise<void>): void {
    const links = [this.#ends.source, this.#ends.target]
    for (const link of links) link.pause()
    work()
      .catch((error: unknown) => this.#fail(error as Error))
      .finally(() => {
        for (const link of links) link.resume()
      })
  }

  async #failpoint(name: MoverFailpoint): Promise<void> {
    await this.#move.failpoint?.(name)
  }
}

function gone(queue: string): Refusal {
  return new Refusal(
    `queue ${queue} was deleted, or moved to another node`,
    'rabbitmqctl list_queues name messages state',
  )
}

export function readByOthers(queue: string): Refusal {
  return new Refusal(
    `other consumers are reading queue ${queue}: stop these consumers first`,
    'rabbitmqctl list_consumers',
  )
}

function notTaken(queue: string, reason: string): Refusal {
  const message = `queue ${queue} rejected a message: ${reason}. Rejected messages stay where they were`
  return new Refusal(message, 'rabbitmqctl list_queues name messages arguments policy')
}

function interrupted({ from, to }: Move, moved: number): AdminError {
  return new AdminError(
    'INTERRUPTED',
    `interrupted: moved ${counted(moved, 'message')} from queue ${from} to ${to}. The rest is still in ${from}`,
  )
}
