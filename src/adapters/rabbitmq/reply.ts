import { messageOf } from '../../core/error.ts'
import { oneLine } from '../failure.ts'

/** A refusal by the broker: it closes the channel, or the connection, with a number and a text. */
export interface Reply {
  code: number
  /** on one line, without the name of the code in front */
  text: string
}

/** CONNECTION_FORCED: the broker goes down, or its operator has closed the connection. */
export const connectionForced = 320

/** Returns the broker's reply in what amqplib threw; null if the broker did not cause it. */
export function replyOf(thrown: unknown): Reply | null {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'number') return null
  const said = messageOf(thrown)
  const [, text = said] = (said.endsWith('"') && /with message "([^]*)"/.exec(said)) || []
  return { code: thrown.code, text: withoutCode(text) }
}

/** Returns what the broker said, on one line and without its code: 'no queue' for 'NOT_FOUND - no queue'. */
export function withoutCode(said: string): string {
  return oneLine(said.replace(/^[A-Z_]+ - /, ''))
}
