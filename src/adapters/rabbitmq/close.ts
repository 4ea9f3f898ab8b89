import type { Socket } from 'node:net'
import type { Channel, ChannelModel } from 'amqplib'
import { atMost } from '../at-most.ts'

/** how long a peer is given to say good-bye, in milliseconds */
export const closingMs = 1000

/** Closes a connection whose peer may no longer answer. Never throws. */
export async function closeGently(model: ChannelModel): Promise<void> {
  await answered(async () => model.close())
  hangUp(model)
}

/** Closes a channel whose connection may be lost: then its end is never announced. Never throws. */
export async function closeChannel(channel: Channel): Promise<void> {
  await answered(async () => channel.close())
}

/** Closes without a goodbye. */
export function hangUp(model: ChannelModel): void {
  ;(model.connection as { stream?: Socket }).stream?.destroy()
}

async function answered(close: () => Promise<void>): Promise<void> {
  // of one that is closed already, `close` throws at once
  await atMost(closingMs, (async () => close())(), undefined).catch(() => undefined)
}
