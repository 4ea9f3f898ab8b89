import { getMessages } from './get.ts'
import type { Link } from './link.ts'
import type { Seen } from './seen.ts'

/**
 * Reads what a queue holds, and puts it back in its place. One by one: a queue that vanishes with its last consumer
 * must not have had one. Whoever reads it next is told that it had been delivered before.
 */
export async function readSeen(link: Link, queue: string, ready: number, seen: Seen): Promise<void> {
  await getMessages(link, queue, ready, {
    onHead: ({ routingKey, properties }) => seen.beginKnown(routingKey.subarray(1), properties),
    onBody: (bytes, start, end) => seen.body(bytes, start, end),
    onEnd: () => void seen.end(false),
  })
  await link.closeChannel()
  await link.openChannel()
}
