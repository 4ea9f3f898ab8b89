import { Flags } from '@oclif/core'
import type { OpenOptions } from '../runtime/index.ts'
import { isReadOnly } from './repair/read-only.ts'
import { tellLine } from './write.ts'

export const relayFlag = Flags.boolean({
  summary: "Reach servers outside the cluster through the service's pod or a short-lived pod",
})

/**
 * Returns how to reach servers through a relay. `changes` says if pods may be made in the cluster, and if they must
 * last while the service is stopped.
 */
export function relayOf(
  { relay = false }: { relay?: boolean | undefined },
  changes: { mayMakePods: boolean; isLasting: boolean },
): Pick<OpenOptions, 'relay'> {
  if (!relay) return {}
  return {
    relay: {
      ...changes,
      mayMakePods: changes.mayMakePods && !isReadOnly(),
      tell: (message) => tellLine(process.stderr, message),
    },
  }
}
