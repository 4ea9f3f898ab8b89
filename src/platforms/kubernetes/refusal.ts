import { oneLine } from '../../adapters/failure.ts'
import { AdminError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import { described, isOfCluster, kubectlName } from './objects.ts'
import type { Asked } from './objects.ts'
import type { ShellCommand, Suggestion } from '../../core/shell-command.ts'

/** What the API server says when it refuses a request (`Status` in its own API). */
export interface Status {
  code: number
  reason: string | null
  message: string
  causes?: readonly Cause[]
}

/** One of several causes of a refusal. */
export interface Cause {
  /** `FieldManagerConflict` */
  reason: string
  message: string
  /** `.spec.replicas` */
  field: string
}

/** A refusal of the API server, with its own status and reason, for callers that can continue in another way. */
export class Refusal extends AdminError {
  constructor(
    code: ErrorCode,
    message: string,
    suggestions: readonly Suggestion[],
    /** HTTP status */
    readonly status: number,
    /** `NotFound`, `AlreadyExists`, `Conflict`, … */
    readonly reason: string | null,
    readonly causes: readonly Cause[] = [],
  ) {
    super(code, message, suggestions, { obstacle: code === 'FORBIDDEN' ? { kind: 'right' } : null })
  }
}

export function isRefusal(error: unknown, status: number): error is Refusal {
  return error instanceof Refusal && error.status === status
}

/** How errors name the cluster and its user, and what is typed there. */
export interface Speaker {
  /** `the cluster of context prod`, for people */
  cluster: string
  user: string
  kubectl: (...words: string[]) => ShellCommand
}

/** Turns the answer to `verb` on an object into an error for the operator. */
export function refusal(verb: string, asked: Asked, status: Status, { cluster, user, kubectl }: Speaker): Refusal {
  const what = described(asked)
  const make = (code: ErrorCode, message: string, suggestions: readonly Suggestion[]): Refusal =>
    new Refusal(code, message, suggestions, status.code, status.reason, status.causes)
  const said = oneLine(status.message)
  switch (status.code) {
    case 401:
      return make('UNAUTHENTICATED', `${cluster} rejects the credentials of ${user}: they are wrong or expired`, [
        kubectl('auth', 'whoami'),
      ])
    case 403:
      // a quota, a policy or a webhook forbids it; no right is missing
      if (verbIn(status.message) === null && status.message !== '')
        return make('FORBIDDEN', `${cluster} refuses to ${verb} ${what}: ${said}`, [kubectl(...getOf(asked))])
      return make('FORBIDDEN', `${userIn(status.message) ?? user} has no permission to ${verb} ${what} of ${cluster}`, [
        kubectl(...canI(verb, asked)),
      ])
    case 404:
      return make('UNAVAILABLE', `${cluster} has no ${what}`, [
        kubectl('get', kubectlName(asked.resource), ...whereOf(asked)),
      ])
    case 409:
      return make('REFUSED', `${what} of ${cluster} has changed: ${said}`, [kubectl(...getOf(asked))])
    case 429:
      return make('EXHAUSTED', `${cluster} accepts no more requests for now: ${said}`, [
        kubectl('get', '--raw', '/readyz'),
      ])
    default:
      return make('UNEXPECTED_ANSWER', `${cluster} refuses to ${verb} ${what} (HTTP ${status.code}): ${said}`, [
        kubectl(...getOf(asked)),
      ])
  }
}

/** Returns the error for an answer of something other than the API server. */
export function notKubernetes(
  answer: { status: number; text: string; contentType: string },
  server: string,
  kubectl: Speaker['kubectl'],
): AdminError {
  const isPage = /html/i.test(answer.contentType) || /^\s*</.test(answer.text)
  const what = isPage
    ? 'with a web page'
    : answer.text.trim() === ''
      ? 'with nothing'
      : `with \`${oneLine(answer.text).slice(0, 80)}\``
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `${server} answers ${what} (HTTP ${answer.status}): it is not a Kubernetes API server, or a proxy answers in ` +
      'its place',
    [kubectl('version'), 'env | cut -d= -f1 | grep -i proxy   # lists the variables that set a proxy'],
  )
}

/** Returns the name that the API server gives the caller. */
function userIn(message: string): string | null {
  const [, user] = /User "([^"]+)"/.exec(message) ?? []
  return user === undefined ? null : `user ${user}`
}

/** Returns the action that the API server says this user may not take. */
export function verbIn(message: string): string | null {
  return /" cannot (\w+) resource "/.exec(message)?.[1] ?? null
}

function canI(verb: string, asked: Asked): string[] {
  const { resource, name, subresource } = asked
  const what = name === undefined ? kubectlName(resource) : `${kubectlName(resource)}/${name}`
  return [
    'auth',
    'can-i',
    verb,
    what,
    ...(subresource === undefined ? [] : [`--subresource=${subresource}`]),
    ...whereOf(asked),
  ]
}

function getOf(asked: Asked): string[] {
  const { resource, name } = asked
  return ['get', kubectlName(resource), ...(name === undefined ? [] : [name]), ...whereOf(asked), '-o', 'yaml']
}

function whereOf({ resource, namespace }: Asked): string[] {
  if (isOfCluster(resource)) return []
  return namespace === null ? ['--all-namespaces'] : ['-n', namespace]
}
