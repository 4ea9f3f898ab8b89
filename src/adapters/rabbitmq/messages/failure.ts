import { typedOn } from '../../../core/host.ts'
import { AdminError } from '../../../core/error.ts'
import type { Suggestion } from '../../../core/shell-command.ts'
import { typed } from '../../../core/typed.ts'
import type { Peer } from '../../failure.ts'
import { oneLine, peerFailure, seconds } from '../../failure.ts'
import { connectionForced, withoutCode } from '../refusal.ts'
import { ClosedByBroker, NoAnswer } from './link.ts'

/** Explains why messages are not moved; `command` shows the operator more. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly command: Suggestion,
  ) {
    super(message)
  }
}

/** Turns what ended a move into an error for the operator. `doing`: 'moving the messages of queue a into b' */
export function moveFailure(
  thrown: unknown,
  {
    doing,
    blocked,
    peer,
    vhost,
    timeoutMs,
  }: { doing: string; blocked: string | null; peer: Peer; vhost: string; timeoutMs: number },
): AdminError {
  if (thrown instanceof AdminError) return thrown
  const cause = { cause: thrown }
  if (thrown instanceof Refusal) {
    return new AdminError('REFUSED', `${doing}: ${thrown.message}`, [typedOn(peer.host, thrown.command)], cause)
  }
  if (thrown instanceof ClosedByBroker) {
    const { replyCode, message } = thrown
    if (replyCode === connectionForced)
      return new AdminError(
        'UNREACHABLE',
        `${doing}: ${peer.what} at ${peer.where} closed the connection: ${withoutCode(message)}`,
        peer.suggestions,
        cause,
      )
    return new AdminError(
      codes[replyCode] ?? kindOf(replyCode, message),
      `${doing}: ${said(peer, message)}`,
      next(thrown, peer, vhost),
      cause,
    )
  }
  if (!(thrown instanceof NoAnswer)) {
    const failure = peerFailure(thrown, peer)
    return new AdminError(failure.code, `${doing}: ${failure.message}`, failure.suggestions, {
      cause: thrown,
      obstacle: failure.obstacle,
    })
  }
  if (blocked === null)
    return new AdminError(
      'TIMED_OUT',
      `${doing}: ${peer.what} at ${peer.where} made no progress for ${seconds(timeoutMs)}`,
      peer.suggestions,
      cause,
    )
  return new AdminError(
    'UNAVAILABLE',
    `${doing}: ${peer.what} at ${peer.where} has accepted no messages for ${seconds(timeoutMs)}, because it is ` +
      `${blocked}. Messages that it did not accept stay where they were`,
    [typedOn(peer.host, 'rabbitmq-diagnostics alarms'), typedOn(peer.host, 'df -h')],
    cause,
  )
}

/** Reply codes of AMQP 0-9-1. */
const codes: Readonly<Record<number, AdminError['code']>> = {
  311: 'REFUSED',
  404: 'REFUSED',
  405: 'REFUSED',
  406: 'REFUSED',
}

function kindOf(replyCode: number, text: string): AdminError['code'] {
  if (replyCode !== 403) return 'UNEXPECTED_ANSWER'
  return isInUse(text) ? 'REFUSED' : 'FORBIDDEN'
}

/** True for a queue with an exclusive consumer, or one whose consumers exclude ours (FIELD-NOTES.md 3) */
function isInUse(text: string): boolean {
  return /in exclusive use|exclusive consumer/.test(text)
}

function said({ what, where }: Peer, text: string): string {
  return `${what} at ${where} refused: ${oneLine(text)}`
}

function next({ replyCode, message }: ClosedByBroker, peer: Peer, vhost: string): readonly Suggestion[] {
  if (replyCode !== 403) return [typedOn(peer.host, 'rabbitmqctl list_queues name messages consumers')]
  const list = isInUse(message) ? 'list_consumers' : 'list_permissions'
  return [typedOn(peer.host, typed(['rabbitmqctl', list, '-p', vhost]))]
}
