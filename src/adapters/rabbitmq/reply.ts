import { messageOf } from '../../core/error.ts'
import { oneLine } from '../failure.ts'

/** How the broker refuses something: it closes the channel, or the connection, with a number and a text. */
export interface Reply {
  code: number
  /** on one line, without the name of the code in front */
  text: string
}

/** CONNECTION_FORCED: the broker goes down, or its operator has closed the connection. */
export const connectionForced = 320

/** Null if the broker did not cause what amqplib threw. */
export function replyOf(thrown: unknown): Reply | null {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'number') return null
  const said = messageOf(thrown)
  const [, text = said] = (said.endsWith('"') && /with message "([^]*)"/.exec(said)) || []
  return { code: thrown.code, text: withoutCode(text) }
}

/** What the broker said, on one line, without the name of the code in front: of 'NOT_FOUND - no queue', 'no queue'. */
export function withoutCode(said: string): string {
  return oneLine(said.replace(/^[A-Z_]+ - /, ''))
}
