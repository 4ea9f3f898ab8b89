import type { Redis } from 'ioredis'
import type { Opened, SessionsEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import type { SessionsSource } from '../../core/sources.ts'
import { readClock } from '../clock.ts'
import { withDeadline } from '../failure.ts'
import { countSessions, lastCount } from './bulk/count.ts'
import { nodesOf } from './bulk/node.ts'
import { connectRedis } from './connect.ts'
import type { Connection } from './connect.ts'
import type { LastCount } from './bulk/count.ts'
import { redisFailure } from './client.ts'
import { sampleSessions } from './sample.ts'
import type { SessionsControl } from '../../core/controls.ts'
import { literally, sessionKeys } from '../../knowledge/sessions.ts'
import { flushIfOnly, removeCounted } from './bulk/remove.ts'
import type { Node } from './bulk/node.ts'
import { assertAnswer, command as commandOf, errorIn } from './bulk/page.ts'
import type { RemovalVerb } from './bulk/remove.ts'
import { command, nested } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

export { lastCount } from './bulk/count.ts'

type Memory = Awaited<ReturnType<SessionsSource['memory']>>

/**
 * Opens one read-only connection, or one to each master of a cluster. Throws UNREACHABLE, TIMED_OUT, UNAUTHENTICATED,
 * FORBIDDEN, EXHAUSTED, UNAVAILABLE (no such database), UNEXPECTED_ANSWER.
 */
export async function openSessions(
  endpoint: SessionsEndpoint,
  { timeoutMs, last = lastCount() }: { timeoutMs: number; last?: LastCount },
): Promise<Opened<SessionsSource>> {
  const connection = await connectRedis(endpoint, timeoutMs)
  return {
    source: {
      ...sessionsSource(connection, endpoint.namespace, timeoutMs),
      async census(asked) {
        const selection = { ...asked, namespace: asked.namespace ?? endpoint.namespace }
        const known = last.find(selection)
        if (known) return known.census
        const counting = await connectRedis(endpoint, timeoutMs)
        try {
          const counted = await countSessions(await nodesOf(counting, timeoutMs), selection)
          last.keep(counted)
          return counted.census
        } finally {
          counting.close()
        }
      },
    },
    async close() {
      connection.close()
    },
  }
}

function sessionsSource(
  connection: Connection,
  namespace: string | null,
  timeoutMs: number,
): Omit<SessionsSource, 'census'> {
  const { peer, client, servers, info, close } = connection
  const [first] = servers as readonly [Redis, ...Redis[]]
  const ask = async <T>(question: () => Promise<T>): Promise<T> => {
    try {
      return await withDeadline(question(), timeoutMs, peer)
    } catch (error) {
      const failure = redisFailure(error, peer)
      // a server that does not answer one request is not asked again
      if (failure.code === 'TIMED_OUT') close()
      throw failure
    }
  }
  return {
    target: peer.where,
    client,
    async identity() {
      if (info instanceof AdminError) throw info
      return {
        version: field(info, 'redis_version') ?? '',
        role: field(info, 'role') ?? '',
        loading: field(info, 'loading') === '1',
      }
    },
    clock: async () =>
      ask(async () =>
        readClock(async () => {
          const [wholeSeconds, microseconds] = await first.time()
          return Number(wholeSeconds) * 1000 + Number(microseconds) / 1000
        }),
      ),
    memory: async () =>
      ask(async () => {
        const all = await Promise.all(servers.map(memoryOf))
        return all.reduce((fullest, next) => (share(next) > share(fullest) ? next : fullest))
      }),
    sampleSessions: async (limit) =>
      ask(async () => sampleSessions(servers, { namespace, limit, budgetMs: timeoutMs / 2 })),
  }
}

async function memoryOf(server: Redis): Promise<Memory> {
  const [memory, stats] = await Promise.all([server.info('memory'), server.info('stats')])
  return {
    usedBytes: Number(field(memory, 'used_memory') ?? 0),
    maxBytes: Number(field(memory, 'maxmemory') ?? 0),
    policy: field(memory, 'maxmemory_policy') ?? '',
    evictedKeys: Number(field(stats, 'evicted_keys') ?? 0),
  }
}

/** Returns how full a server is; 0 if it has no limit. */
function share({ usedBytes, maxBytes }: Memory): number {
  return maxBytes > 0 ? usedBytes / maxBytes : 0
}

function field(info: string, name: string): string | null {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? null
}

/** A key that is not a session: a command on it needs the same rights, and changes nothing. */
const nobody = 'testops-admin'
/** commands that read and change the index of an indexed repository */
const ofIndex = ['SMEMBERS', 'SREM', 'ZRANGE', 'ZREM'] as const

/** Opens a control to remove sessions, with one connection per master of a cluster. Throws as `openSessions` does. */
export async function openSessionsControl(
  endpoint: SessionsEndpoint,
  { timeoutMs, last }: { timeoutMs: number; last: LastCount },
): Promise<Opened<SessionsControl>> {
  const connection = await connectRedis(endpoint, timeoutMs)
  const nodes = await nodesOf(connection, timeoutMs)
  const { peer, client } = connection
  const connections = [connection]
  const reconnected = async (): Promise<Connection> => {
    const made = await connectRedis(endpoint, timeoutMs)
    connections.push(made)
    return made
  }
  const verbOf = async (namespace: string, attempt = tryOn): Promise<RemovalVerb> =>
    removalVerb(nodes, namespace, client, attempt)
  const control: SessionsControl = {
    target: peer.where,
    async assertRemovable({ namespace, indexed, onlyAsks = false }) {
      const attempt = onlyAsks ? askOn : tryOn
      await verbOf(namespace, attempt)
      for (const verb of ['EXISTS', ...(indexed ? ofIndex : [])] as const) {
        await attempt(nodes, verb, namespace).catch((error: unknown) => {
          throw isDenied(error) ? missing(verb, nodes, namespace, client, error) : error
        })
      }
    },
    async remove(selection, { flush, ...options }) {
      // emptying the database also removes sessions that began after the plan
      const known = flush ? null : last.find(selection)
      const isSame = known?.nodes.every(({ name }, at) => nodes[at]?.name === name) ?? false
      const counted =
        known && isSame ? known : await countSessions(nodes, flush ? { ...selection, asOf: null } : selection)
      last.forget()
      const { census } = counted
      // verifies on the current master: a former one may not know yet that it was replaced
      const anew = async (): Promise<readonly Node[]> => sameNodes(nodes, await nodesOf(await reconnected(), timeoutMs))
      if (census.namespace === null) return { counted: 0, removed: 0, notFlushed: null }
      let notFlushed: string | null = null
      if (flush) {
        notFlushed = await flushed(nodes, { namespace: census.namespace, foreign: census.foreign })
        if (notFlushed === null) {
          await options.onRemoved()
          const [now] = await anew()
          if (now!.name !== nodes[0]!.name) throw replaced(now!)
          return { counted: census.sessions, removed: null, notFlushed }
        }
      }
      return {
        ...(await removeCounted(nodes, counted, await verbOf(census.namespace), { ...options, anew })),
        notFlushed,
      }
    },
  }
  return {
    source: control,
    async close() {
      for (const it of connections) it.close()
    },
  }
}

/** Returns the nodes of another connection, in the order of these. Throws UNAVAILABLE if a cluster has others. */
function sameNodes(nodes: readonly Node[], others: readonly Node[]): readonly Node[] {
  if (!nodes[0]!.isInCluster) return others
  const named = nodes.map(({ name }) => others.find((other) => other.name === name))
  if (others.length !== nodes.length || named.includes(undefined)) throw replaced(others[0]!)
  return named as readonly Node[]
}

function replaced({ peer: { where, suggestions } }: Node): AdminError {
  return new AdminError(
    'UNAVAILABLE',
    `Redis at ${where} no longer has the same masters as at the start, so sessions that this run removed may ` +
      'still exist',
    suggestions,
  )
}

/** Empties the database if it may. Returns null if it did, else the reason why not. */
async function flushed(
  nodes: readonly Node[],
  { namespace, foreign }: { namespace: string; foreign: number },
): Promise<string | null> {
  const [only, ...others] = nodes
  if (only!.isInCluster || others.length > 0)
    return 'a Redis cluster has only one database, which other programs may use too'
  if (foreign > 0)
    return foreign === 1
      ? '1 key in this database is not a session'
      : `${foreign} keys in this database are not sessions`
  return flushIfOnly(only!, namespace)
}

/**
 * Returns UNLINK, else DEL, whichever is allowed on keys of that space. Throws FORBIDDEN if neither is, and any other
 * error that keeps the store from writing.
 */
async function removalVerb(
  nodes: readonly Node[],
  namespace: string,
  client: ShellCommand,
  attempt: typeof tryOn,
): Promise<RemovalVerb> {
  try {
    await attempt(nodes, 'UNLINK', namespace)
    return 'UNLINK'
  } catch (error) {
    if (!isDenied(error)) throw error
  }
  try {
    await attempt(nodes, 'DEL', namespace)
    return 'DEL'
  } catch (error) {
    if (!isDenied(error)) throw error
    throw missing('UNLINK (or DEL)', nodes, namespace, client, error)
  }
}

function missing(
  right: string,
  nodes: readonly Node[],
  namespace: string,
  client: ShellCommand,
  cause: unknown,
): AdminError {
  const rights = command`${`~${literally(namespace)}:*`} +unlink +exists +smembers +srem +zrange +zrem`
  return new AdminError(
    'FORBIDDEN',
    `Redis at ${nodes[0]!.peer.where} does not let this user remove sessions: the user needs permission for ` +
      `${right} on keys ${namespace}:*`,
    [
      command`${nested(client)} ACL SETUSER USER ${nested(rights)}   # as an administrator. Replace USER with the
        configured user`,
    ],
    { cause },
  )
}

type Verb = RemovalVerb | 'EXISTS' | (typeof ofIndex)[number]

function questionOn(verb: Verb, namespace: string): ReturnType<typeof commandOf> {
  const more = verb === 'SREM' || verb === 'ZREM' ? [nobody] : verb === 'ZRANGE' ? ['0', '0'] : []
  return commandOf(verb, sessionKeys.session(namespace, nobody), ...more)
}

/** Throws for a refusal; a cluster node without the slot says so only after it has accepted the right. */
function assertRight(reply: Parameters<typeof assertAnswer>[0], peer: Node['peer']): void {
  if (!/^(MOVED|ASK) /.test(errorIn(reply) ?? '')) assertAnswer(reply, peer)
}

/** Tries a right on all nodes, with a command that finds nothing. */
async function tryOn(nodes: readonly Node[], verb: Verb, namespace: string): Promise<void> {
  const question = questionOn(verb, namespace)
  await Promise.all(nodes.map(async ({ wire, peer }) => wire.send([question], 1, (reply) => assertRight(reply, peer))))
}

/**
 * Asks all nodes for a right, and carries nothing out: rights are checked when a transaction takes up a command (Redis
 * documentation, "Transactions"), and this one is discarded. Where this user may begin none, nothing is known.
 */
async function askOn(nodes: readonly Node[], verb: Verb, namespace: string): Promise<void> {
  const question = questionOn(verb, namespace)
  await Promise.all(
    nodes.map(async ({ wire, peer }) => {
      let isBegun = false
      await wire.send([commandOf('MULTI')], 1, (reply) => (isBegun = errorIn(reply) === null))
      if (!isBegun) return
      let isFirst = true
      // what throws here lets the other reply, of DISCARD, still come
      await wire.send([question, commandOf('DISCARD')], 2, (reply) => {
        const isAnswer = isFirst
        isFirst = false
        if (isAnswer) assertRight(reply, peer)
      })
    }),
  )
}

function isDenied(error: unknown): boolean {
  return (
    error instanceof AdminError &&
    (error.code === 'FORBIDDEN' || (error.code === 'UNAVAILABLE' && /renamed or disabled$/.test(error.message)))
  )
}
