import { openChannels } from './channels.ts'
import type { Channels } from './channels.ts'
import type { KubernetesClient } from './client.ts'
import type { Asked } from './resources.ts'

export interface StreamOptions {
  timeoutMs: number
  /** Milliseconds between signs that it is alive */
  pingMs?: number
}

/** Opens a stream to a pod. `what`: for people. Throws as the client does, UNAVAILABLE, TIMED_OUT. */
export async function openStream(
  client: KubernetesClient,
  asked: Asked,
  what: string,
  { timeoutMs, pingMs }: StreamOptions,
): Promise<Channels> {
  return openChannels({
    what,
    async dial() {
      const { url, ...how } = await client.socket(asked)
      return { url, options: how }
    },
    refused: (answer) => client.refused(asked, answer),
    unreached: (error) => client.unreached(error),
    timeoutMs,
    ...(pingMs !== undefined && { pingMs }),
  })
}
