import type { IncomingMessage } from 'node:http'
import { env } from 'node:process'
import { peerFailure } from '../../adapters/failure.ts'
import { isRecord } from '../../adapters/http.ts'
import { linesOf } from '../../adapters/lines.ts'
import type { AdminError } from '../../core/error.ts'
import { sharedAnswers } from '../../core/answers.ts'
import { typed } from '../../core/typed.ts'
import type { PlatformOptions } from '../platform.ts'
import { findAccess } from './access.ts'
import type { Access, KubernetesSettings } from './access.ts'
import { bodyOf, isOk, newestOf, parsed, statusIn } from './bodies.ts'
import { openConnection } from './connection.ts'
import type { Connection, SocketOptions } from './connection.ts'
import { credentialsOf } from './credentials.ts'
import type { CredentialSource } from './credentials.ts'
import { isRefusal, notKubernetes, refusal, verbIn } from './refusal.ts'
import type { Speaker } from './refusal.ts'
import { groupOf, pathOf } from './objects.ts'
import type { Asked } from './objects.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** What is changed, and how. */
type Change =
  | { verb: 'create' | 'update'; body: unknown }
  | { verb: 'patch'; kind: 'merge' | 'strategic' | 'json' | 'apply'; body: unknown }
  | { verb: 'delete'; body?: unknown }

/**
 * The API of one cluster. Every method throws `Refusal` (UNAUTHENTICATED, FORBIDDEN with verb, resource and namespace,
 * UNAVAILABLE for what is missing, REFUSED for a conflict, …), and UNREACHABLE, TIMED_OUT, UNEXPECTED_ANSWER,
 * INTERRUPTED.
 */
export interface KubernetesClient {
  /** Null in a pod of the cluster */
  readonly context: string | null
  /** The context's own namespace */
  readonly namespace: string
  /** Address of the API server */
  readonly server: string
  /** Milliseconds for each answer */
  readonly timeoutMs: number
  /** `the cluster of context prod`, for people */
  readonly cluster: string
  /** Returns a command for this cluster, as an operator types it */
  kubectl(...words: string[]): ShellCommand
  get<T>(asked: Asked & { name: string }): Promise<T>
  /** Returns the items of all pages, without the owners of their fields */
  list<T>(asked: Asked): Promise<readonly T[]>
  /** Yields the items page by page, for callers that keep little of them */
  pages<T>(asked: Asked): AsyncGenerator<readonly T[]>
  change<T>(asked: Asked, change: Change): Promise<T>
  /** Returns the newest `maxBytes` of a text, at most; `complete` is false if older text was left out */
  text(asked: Asked, options: { maxBytes: number }): Promise<{ complete: boolean; text: string }>
  /** Yields a text's lines as they come, until the server or the signal ends it; cuts them at `maxLength` characters */
  lines(asked: Asked, options: { maxLength: number; signal?: AbortSignal }): AsyncGenerator<string>
  /** Yields a text as it comes, however long, until the server or the signal ends it */
  blocks(asked: Asked, options: { signal?: AbortSignal | undefined }): AsyncGenerator<Uint8Array>
  /** Yields changes as they come, until the server or the signal ends them; neither end is an error */
  watch<T>(asked: Asked, signal?: AbortSignal): AsyncGenerator<{ type: string; object: T }>
  /** True if this user may do that */
  may(verb: string, asked: Asked): Promise<boolean>
  /** Throws FORBIDDEN if this user may not do it, and as `may` */
  assertMay(verb: string, asked: Asked): Promise<void>
  /** Returns the address of a WebSocket, and the options of its socket */
  socket(asked: Asked): Promise<SocketOptions & { url: string }>
  /** Returns the error for a WebSocket that was answered like this instead of opened */
  refused(asked: Asked, answer: { status: number; text: string; contentType: string }): AdminError
  /** Returns the error for a WebSocket that led nowhere */
  unreached(error: unknown): AdminError
  /** The same client, which an interruption does not stop: what is held then must be released in order */
  readonly lasting: KubernetesClient
  /** Returns the same client, with its connections and credentials, under other options; one `close` closes both */
  patient(options: PlatformOptions): KubernetesClient
  close(): void
}

const methods = { create: 'POST', update: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const
const patchTypes = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const
const pageSize = 500
/** Milliseconds for which an answer is shared: less than between two looks at a service that is to stay stopped */
const sharedMs = 1000

/**
 * Opens a client; does not ask the cluster anything yet. Throws CONFIGURATION (a wrong context, a broken kubeconfig),
 * UNAVAILABLE (no cluster is known).
 */
export async function openClient(
  settings: Pick<KubernetesSettings, 'context'>,
  options: PlatformOptions,
): Promise<KubernetesClient> {
  const access = await findAccess(settings, options.environment ?? env)
  const { context } = access
  const kubectl = (...words: string[]): ShellCommand =>
    typed(['kubectl', ...(context === null ? [] : ['--context', context]), ...words])
  const connection = await openConnection(access, { suggestions: [kubectl('version')] })
  const speaker: Speaker = {
    cluster: context === null ? 'this cluster' : `the cluster of context \`${context}\``,
    user: access.user === null ? 'nobody' : `user \`${access.user.name}\``,
    kubectl,
  }
  return clientOn({ access, connection, credentials: credentialsOf(access), speaker }, options)
}

interface Base {
  access: Access
  connection: Connection
  credentials: CredentialSource
  speaker: Speaker
}

function clientOn(base: Base, options: PlatformOptions): KubernetesClient {
  const { access, connection, credentials, speaker } = base
  const { context, namespace } = access
  const { kubectl } = speaker

  const failure = async (answer: IncomingMessage, verb: string, asked: Asked): Promise<AdminError> => {
    const text = await bodyOf(answer)
    const status = statusIn(text, answer.statusCode ?? 0)
    return status
      ? refusal(verb, asked, status, speaker)
      : notKubernetes(
          { status: answer.statusCode ?? 0, text, contentType: answer.headers['content-type'] ?? '' },
          connection.peer.where,
          kubectl,
        )
  }

  /** Retries once with other credentials if these were rejected and there may be others. */
  const askUntil =
    (signal?: AbortSignal) =>
    async <T>(
      verb: string,
      asked: Asked,
      sent: { method: string; body?: string; contentType?: string },
      read: (answer: IncomingMessage) => Promise<T>,
    ): Promise<T> => {
      for (let isFirst = true; ; isFirst = false) {
        const given = await credentials.current(options)
        const outcome = await connection.exchange(
          { ...sent, path: pathOf(asked), credentials: given },
          async (answer) =>
            isOk(answer) ? { value: await read(answer) } : { failure: await failure(answer, verb, asked) },
          { timeoutMs: options.timeoutMs, signal },
        )
        if ('value' in outcome) return outcome.value
        if (outcome.failure.code !== 'UNAUTHENTICATED' || !isFirst || !credentials.renew()) throw outcome.failure
      }
    }

  /** Streams an answer without end; retries with other credentials if these have expired since. */
  async function* streamed(verb: string, asked: Asked, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const open = async (isFirst: boolean): Promise<IncomingMessage> => {
      const answer = await connection.stream(
        { method: 'GET', path: pathOf(asked), credentials: await credentials.current(options) },
        { timeoutMs: options.timeoutMs, signal: signal ?? options.signal },
      )
      if (isOk(answer)) return answer
      const refused = await failure(answer, verb, asked)
      if (refused.code === 'UNAUTHENTICATED' && isFirst && credentials.renew()) return open(false)
      throw refused
    }
    const answer = await open(true)
    try {
      yield* answer as AsyncIterable<Uint8Array>
    } catch (error) {
      if (signal?.aborted !== true) throw peerFailure(error, connection.peer)
    } finally {
      answer.destroy()
    }
  }

  const json = async <T>(answer: IncomingMessage): Promise<T> => {
    const text = await bodyOf(answer)
    const value = parsed(text)
    if (isRecord(value)) return value as T
    throw notKubernetes(
      { status: answer.statusCode ?? 0, text, contentType: answer.headers['content-type'] ?? '' },
      connection.peer.where,
      kubectl,
    )
  }

  const answers = sharedAnswers({ keep: 'nothing', forMs: sharedMs })
  async function* pagesBy<T>(ask: ReturnType<typeof askUntil>, asked: Asked): AsyncGenerator<readonly T[]> {
    for (let next: string | undefined; ; ) {
      const query = { limit: pageSize, ...asked.query, ...(next !== undefined && { continue: next }) }
      const page = await ask(
        'list',
        { ...asked, query },
        { method: 'GET' },
        json<{ items?: T[]; metadata?: { continue?: string } }>,
      )
      const items = page.items ?? []
      items.forEach(withoutFields)
      yield items
      next = page.metadata?.continue
      if (!next) return
    }
  }

  const mayBy = async (
    ask: ReturnType<typeof askUntil>,
    verb: string,
    { resource, namespace: where, name, subresource }: Asked,
  ): Promise<boolean> => {
    const attributes = {
      verb,
      group: groupOf(resource),
      resource,
      ...(where !== null && { namespace: where }),
      ...(name !== undefined && { name }),
      ...(subresource !== undefined && { subresource }),
    }
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: attributes },
    }
    const review = await ask(
      'create',
      { resource: 'selfsubjectaccessreviews', namespace: null },
      { method: 'POST', body: JSON.stringify(body) },
      json<{ status?: { allowed?: boolean } }>,
    )
    return review.status?.allowed === true
  }

  const clientThat = (
    ask: ReturnType<typeof askUntil>,
    whose: string,
  ): Omit<KubernetesClient, 'lasting' | 'patient'> => ({
    context,
    namespace,
    server: connection.peer.where,
    timeoutMs: options.timeoutMs,
    cluster: speaker.cluster,
    kubectl,
    get: async <T>(asked: Asked) =>
      answers.to(`${whose} ${pathOf(asked)}`, async () => ask('get', asked, { method: 'GET' }, json<T>)),
    list: async <T>(asked: Asked) =>
      answers.to(`${whose} all of ${pathOf(asked)}`, async () => {
        const all: T[] = []
        for await (const items of pagesBy<T>(ask, asked)) all.push(...items)
        return all
      }),
    pages: (asked) => pagesBy(ask, asked),
    async change<T>(asked: Asked, change: Change) {
      const { verb, body } = change
      // answers from before a change may not show it
      return ask(
        verb,
        asked,
        {
          method: methods[verb],
          ...(body !== undefined && { body: JSON.stringify(body) }),
          ...(verb === 'patch' && { contentType: patchTypes[change.kind] }),
        },
        json<T>,
      ).finally(() => answers.forget())
    },
    text: async (asked, options) =>
      ask('get', asked, { method: 'GET' }, (answer) => newestOf(answer, options.maxBytes)),
    lines: (asked, { maxLength, signal }) => linesOf(streamed('get', asked, signal), maxLength),
    blocks: (asked, { signal }) => streamed('get', asked, signal),
    async *watch<T>(asked: Asked, signal?: AbortSignal) {
      for await (const line of linesOf(
        streamed('watch', { ...asked, query: { ...asked.query, watch: true } }, signal),
      )) {
        const event = parsed(line)
        if (isRecord(event) && typeof event['type'] === 'string') yield event as { type: string; object: T }
      }
    },
    may: async (verb, asked) => mayBy(ask, verb, asked),
    async assertMay(verb, asked) {
      const may = await mayBy(ask, verb, asked).catch((error: unknown) => {
        // who may not even ask may still have the right
        if (isRefusal(error, 403)) return true
        throw error
      })
      // a review does not say by which name the cluster knows this user
      const self = { ...speaker, user: 'this user' }
      if (!may) throw refusal(verb, asked, { code: 403, reason: 'Forbidden', message: '' }, self)
    },
    async socket(asked) {
      return {
        ...connection.socketOptions(await credentials.current(options)),
        url: `${access.cluster.server.replace(/^http/, 'ws')}${pathOf(asked)}`,
      }
    },
    refused(asked, { status, text, contentType }) {
      const said = statusIn(text, status)
      // the verb that the server checks differs between versions
      return said
        ? refusal(verbIn(said.message) ?? 'create', asked, said, speaker)
        : notKubernetes({ status, text, contentType }, connection.peer.where, kubectl)
    },
    unreached: (error) => peerFailure(error, connection.peer),
    close: () => connection.close(),
  })
  const patient = (others: PlatformOptions): KubernetesClient => clientOn(base, others)
  const lasting: KubernetesClient = {
    ...clientThat(askUntil(), 'lasting'),
    patient,
    get lasting() {
      return lasting
    },
  }
  return { ...clientThat(askUntil(options.signal), 'until interrupted'), patient, lasting }
}

/** Removes the owners of fields: often the largest part of an object, and of no use in a list. */
function withoutFields(object: unknown): void {
  if (isRecord(object) && isRecord(object['metadata'])) Reflect.deleteProperty(object['metadata'], 'managedFields')
}
