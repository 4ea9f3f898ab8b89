import { withoutSecrets } from './redaction/index.ts'
import type { Suggestion } from './shell-command.ts'

/**
 * Every way in which a command can fail on purpose, with the exit code of the contract.
 * Anything that reaches the top and is not an `AdminError` is a bug of this program (exit 70).
 */
export const exitCodes = {
  /** a flag, an argument or an id that does not exist */
  USAGE: 64,
  /** the configuration file cannot be read or says something that is not allowed */
  CONFIGURATION: 64,
  /** a secret that the configuration refers to is not there */
  SECRET_MISSING: 64,
  /** this deployment has no such part: its checks are skipped, never failed */
  NOT_CONFIGURED: 64,
  /** no connection: refused, no such host, no route, closed while in use */
  UNREACHABLE: 69,
  /** connected or connecting, and no answer in time */
  TIMED_OUT: 69,
  /** the other side does not accept who we are */
  UNAUTHENTICATED: 69,
  /** the other side knows us and does not allow this */
  FORBIDDEN: 69,
  /** the other side has no slot left for one more connection, or accepts no more calls for now */
  EXHAUSTED: 69,
  /** the other side answers, but not as what it should be */
  UNEXPECTED_ANSWER: 69,
  /** what this needs is not installed, not offered by that version, or cannot be had on this machine */
  UNAVAILABLE: 69,
  /** a repair or a lab command tried and did not succeed */
  FAILED: 1,
  /** not confirmed, or not safe */
  REFUSED: 4,
  /** another operator is at work */
  BUSY: 5,
  /** interrupted by a signal */
  INTERRUPTED: 6,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof exitCodes

/** What stands in the way to a part. */
export interface NetworkObstacle {
  /**
   * refused: nothing listens; unresolved: the name has no address; unrouted: no way there; tls: no agreement on
   * encryption; client-certificate: it wants one, which this program has not; proxy: this machine's own is in the way
   */
  kind: 'refused' | 'unresolved' | 'unrouted' | 'tls' | 'client-certificate' | 'proxy'
  host: string
  port: number
}

/** What kept a part from being reached, where the code alone does not say what is to be done about it. */
export type Obstacle =
  | NetworkObstacle
  /** the certificate is for other names than the one by which the part is addressed */
  | { kind: 'misnamed'; host: string; port: number; names: readonly string[] }
  /** what was refused is the configuration's own user or password, of which the service may have others */
  | { kind: 'login' }
  /** its disk has no room left, without which it takes nobody in */
  | { kind: 'disk' }
  /** its address stands in the service's settings, which cannot be read: the part itself has not been tried */
  | { kind: 'settings' }
  /** this user lacks a right to look at it, or at the way to it: the part itself has not been tried */
  | { kind: 'right' }
  /** the pods or containers in which it runs are not there, not ready, or on a node that is lost */
  | { kind: 'instances' }
  /**
   * this machine gets no connection, and the service is in another network, where that may be otherwise; or the way
   * there could not be asked for
   */
  | { kind: 'beyond' }

/**
 * An error that the operator can act on: what happened and to what, then what to type next.
 * What is secret by its form or known as a secret is taken out of the message.
 */
export class AdminError extends Error {
  override readonly name = 'AdminError'
  readonly obstacle: Obstacle | null

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly suggestions: readonly Suggestion[] = [],
    { obstacle = null, ...options }: { cause?: unknown; obstacle?: Obstacle | null } = {},
  ) {
    super(withoutSecrets(message), options)
    this.obstacle = obstacle
  }

  get exitCode(): number {
    return exitCodes[this.code]
  }
}

const untried: readonly Obstacle['kind'][] = ['settings', 'right', 'beyond']

/**
 * Whether a part was not tried from where the service is, or not at all, since it is not known where it is: that says
 * nothing of the part.
 */
export function isUntried(error: unknown): boolean {
  return error instanceof AdminError && error.obstacle !== null && untried.includes(error.obstacle.kind)
}

/** Whether a part, or its address, may not be looked at by this user: asking again gives nothing else. */
export function isForbidden(error: AdminError): boolean {
  return error.obstacle?.kind === 'right' || (error.obstacle?.kind === 'settings' && error.code === 'FORBIDDEN')
}

/** The code that Node or a library gives an error, 'ENOENT', the first one's where it is several; null: it has none. */
export function codeOf(thrown: unknown): string | null {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return codeOf(thrown.errors[0])
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null
}

/** The message of anything that was thrown, for an error that is made from it. */
/** Somebody who was asked whether to go on said no. */
export function cancelled(cause?: unknown): AdminError {
  return new AdminError('REFUSED', cancelledMessage, [], { cause })
}

export const cancelledMessage = 'Cancelled. Nothing was changed.'

export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return messageOf(thrown.errors[0])
  if (thrown instanceof Error) return thrown.message || thrown.name
  return String(thrown)
}
