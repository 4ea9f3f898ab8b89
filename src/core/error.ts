import { withoutSecrets } from './redaction/index.ts'
import type { Suggestion } from './shell-command.ts'

/**
 * Every way in which a command can fail on purpose, with the exit code of the contract. Any other error that reaches
 * the top is a bug of this program (exit 70).
 */
export const exitCodes = {
  /** A flag, an argument or an id that does not exist */
  USAGE: 64,
  /** The configuration file cannot be read or says something that is not allowed */
  CONFIGURATION: 64,
  /** A secret that the configuration refers to is missing */
  SECRET_MISSING: 64,
  /** This deployment has no such part: its checks are skipped, never failed */
  NOT_CONFIGURED: 64,
  /** No connection: refused, no such host, no route, closed while in use */
  UNREACHABLE: 69,
  /** Connected or connecting, and no answer in time */
  TIMED_OUT: 69,
  /** The other side rejects the login */
  UNAUTHENTICATED: 69,
  /** The other side accepts the login but does not allow this */
  FORBIDDEN: 69,
  /** The other side has no slot for another connection, or accepts no more calls for now */
  EXHAUSTED: 69,
  /** The other side answers, but not as the kind of server expected */
  UNEXPECTED_ANSWER: 69,
  /** What this needs is not installed, not offered by that version, or not available on this machine */
  UNAVAILABLE: 69,
  /** A repair or a lab command tried and did not succeed */
  FAILED: 1,
  /** Not confirmed, or not safe */
  REFUSED: 4,
  /** Another operator is at work */
  BUSY: 5,
  /** Interrupted by a signal */
  INTERRUPTED: 6,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof exitCodes

/** What prevents a connection to a part. */
export interface NetworkObstacle {
  /**
   * refused: nothing listens; unresolved: the name has no address; unrouted: no route there; tls: no agreement on
   * encryption; client-certificate: it wants one, and this program has none; proxy: this machine's own is in the way
   */
  kind: 'refused' | 'unresolved' | 'unrouted' | 'tls' | 'client-certificate' | 'proxy'
  host: string
  port: number
}

/** Why a part was not reached, if the code alone does not say what to do. */
export type Obstacle =
  | NetworkObstacle
  /** The certificate is for other names than the one that addresses the part */
  | { kind: 'misnamed'; host: string; port: number; names: readonly string[] }
  /** The configuration's own user or password was rejected; the service may have others */
  | { kind: 'login' }
  /** Its disk is full, so that it accepts no connection */
  | { kind: 'disk' }
  /** Its address is in the service's settings, which cannot be read: the part itself was not tried */
  | { kind: 'settings' }
  /** This user lacks a right to look at it, or at the way to it: the part itself was not tried */
  | { kind: 'right' }
  /** The pods or containers in which it runs are missing, not ready, or on a lost node */
  | { kind: 'instances' }
  /**
   * This machine gets no connection, but the service, in another network, may get one; or the way there could not be
   * asked for
   */
  | { kind: 'beyond' }

/**
 * An error that the operator can act on: what happened and to what, then what to type next. Removes from the message
 * what is secret by its form or known as a secret.
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
 * Returns true if a part was not tried from where the service is, or not at all, as its place is unknown. The error
 * then says nothing about the part.
 */
export function isUntried(error: unknown): boolean {
  return error instanceof AdminError && error.obstacle !== null && untried.includes(error.obstacle.kind)
}

/** Returns true if this user may not look at a part, or at its address: asking again gives nothing else. */
export function isForbidden(error: AdminError): boolean {
  return error.obstacle?.kind === 'right' || (error.obstacle?.kind === 'settings' && error.code === 'FORBIDDEN')
}

/** Returns the code that Node or a library gives an error, 'ENOENT'; of several errors, the first one's. null: none. */
export function codeOf(thrown: unknown): string | null {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return codeOf(thrown.errors[0])
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null
}

/** Returns the error for an operator who said no when asked to confirm. */
export function cancelled(cause?: unknown): AdminError {
  return new AdminError('REFUSED', cancelledMessage, [], { cause })
}

export const cancelledMessage = 'Cancelled. Nothing was changed.'

/** Returns the message of anything that was thrown, for an error that is made from it. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return messageOf(thrown.errors[0])
  if (thrown instanceof Error) return thrown.message || thrown.name
  return String(thrown)
}

/** Returns what was opened, as a list of one; empty if it cannot be reached. Throws INTERRUPTED. */
export async function ifReached<T>(opening: Promise<T>): Promise<T[]> {
  try {
    return [await opening]
  } catch (error) {
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return []
    throw error
  }
}
