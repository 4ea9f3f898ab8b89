import { Deliveries } from './delivery.ts'
import type { DeliveryUser } from './delivery.ts'
import { FrameWriter, methodFrame } from './frames.ts'
import { NoAnswer, channel } from './link.ts'
import type { Link } from './link.ts'
import { method } from './methods.ts'

/** messages requested at once */
const batch = 500

/**
 * Gets `count` messages of a queue, or as many as it has, and acknowledges none. Closing the channel returns them to
 * the queue.
 */
export async function getMessages(
  link: Link,
  queue: string,
  count: number,
  user: Pick<DeliveryUser, 'onHead' | 'onBody' | 'onEnd'>,
): Promise<void> {
  for (let left = count; left > 0; left -= batch) await getSome(link, queue, Math.min(left, batch), user)
}

async function getSome(
  link: Link,
  queue: string,
  count: number,
  user: Pick<DeliveryUser, 'onHead' | 'onBody' | 'onEnd'>,
): Promise<void> {
  if (!link.isChannelOpen) throw new NoAnswer()
  let missing = count
  let isDone: () => void = () => undefined
  const one = (): void => {
    missing -= 1
    if (missing === 0) isDone()
  }
  const deliveries = new Deliveries({
    ...user,
    onEnd() {
      user.onEnd()
      one()
    },
    onCancel: () => undefined,
  })
  let timer: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      isDone = resolve
      timer = setTimeout(() => reject(new NoAnswer()), link.timeoutMs)
      link.use({
        onFrame(type, _, bytes, start, end) {
          timer?.refresh()
          // a message expired meanwhile
          if (type === methodFrame && bytes.readUInt32BE(start) === method.getEmpty) one()
          else deliveries.frame(type, bytes, start, end)
        },
        onPause: () => undefined,
        onFailure: reject,
      })
      const out = new FrameWriter()
      for (let index = 0; index < count; index += 1) out.method(channel, method.get).u16(0).short(queue).u8(0).end()
      link.send(out)
    })
  } finally {
    clearTimeout(timer)
    link.use(null)
  }
}
