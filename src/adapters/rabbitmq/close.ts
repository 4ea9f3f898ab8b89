import type { Socket } from 'node:net'
import type { Channel, ChannelModel } from 'amqplib'
import { atMost } from '../at-most.ts'

/** milliseconds that a peer has to answer a close */
export const closingMs = 1000

/** Closes a connection whose peer may no longer answer. Never throws. */
export async function closeGently(model: ChannelModel): Promise<void> {
  await answered(async () => model.close())
  hangUp(model)
}

/** Closes a channel, even if its connection was lost and never announces the end. Never throws. */
export async function closeChannel(channel: Channel): Promise<void> {
  await answered(async () => channel.close())
}

/** Closes the socket without waiting for the peer. */
export function hangUp(model: ChannelModel): void {
  ;(model.connection as { stream?: Socket }).stream?.destroy()
}

async function answered(close: () => Promise<void>): Promise<void> {
  // `close` throws at once if the connection or channel is closed already
  await atMost(closingMs, (async () => close())(), undefined).catch(() => undefined)
}
