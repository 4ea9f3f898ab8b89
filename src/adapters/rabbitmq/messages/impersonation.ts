import { writeNowhere } from './envelope.ts'
import { ClosedByBroker, channel } from './link.ts'
import type { Link } from './link.ts'
import { method } from './methods.ts'

/**
 * Whether the broker takes a user_id of another user from us, as it does from a user with the tag `impersonator`. It is
 * tried with a message that goes nowhere, since nothing else tells it over AMQP. The channel is as it was afterwards.
 */
export async function mayImpersonate(link: Link, user: string): Promise<boolean> {
  try {
    // the broker answers a channel's methods in their order
    await link.ask(method.confirmSelectOk, (out) => {
      writeNowhere(out, channel, `${user}.other`)
      out.method(channel, method.confirmSelect).u8(0).end()
    })
  } catch (error) {
    // 406; or 403, where it may not publish to the nameless exchange at all
    if (!(error instanceof ClosedByBroker)) throw error
    await link.openChannel()
    return false
  }
  // a channel that counts from 1 anew
  await link.closeChannel()
  await link.openChannel()
  return true
}
