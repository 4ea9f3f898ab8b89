import { Deliveries } from './delivery.ts'
import { FrameWriter, methodFrame } from './frames.ts'
import { NoAnswer, channel } from './link.ts'
import type { Link } from './link.ts'
import { method } from './methods.ts'
import type { Seen } from './seen.ts'

/** how many are asked for at once */
const batch = 500

/**
 * Reads what a queue holds, and puts it back in its place. One by one: a queue that vanishes with its last consumer must not have had
 * one. Whoever reads it next is told that it had been delivered before.
 */
export async function readSeen(link: Link, queue: string, ready: number, seen: Seen): Promise<void> {
  for (let left = ready; left > 0; left -= batch) await readSome(link, queue, Math.min(left, batch), seen)
  await link.closeChannel()
  await link.openChannel()
}

async function readSome(link: Link, queue: string, count: number, seen: Seen): Promise<void> {
  let missing = count
  let isDone: () => void = () => undefined
  const one = (): void => {
    missing -= 1
    if (missing === 0) isDone()
  }
  const deliveries = new Deliveries({
    onHead: ({ routingKey, properties }) => seen.beginKnown(routingKey.subarray(1), properties),
    onBody: (bytes, start, end) => seen.body(bytes, start, end),
    onEnd() {
      seen.end(false)
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
          // a message expires meanwhile
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
