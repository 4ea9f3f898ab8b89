import { connect } from 'amqplib'
import { onTestFinished } from 'vitest'
import type { FreshVhost } from '../../servers/index.ts'

/** Somebody else who is connected until the test ends. */
export async function connectTo({
  url,
}: FreshVhost): Promise<{ consume(queue: string): Promise<void>; declareExclusive(queue: string): Promise<void> }> {
  const connection = await connect(url)
  connection.on('error', () => undefined)
  onTestFinished(async () => connection.close().catch(() => undefined))
  const channel = await connection.createChannel()
  channel.on('error', () => undefined)
  return {
    async consume(queue) {
      await channel.consume(queue, () => undefined)
    },
    async declareExclusive(queue) {
      await channel.assertQueue(queue, { exclusive: true })
    },
  }
}
