import type { Redis } from 'ioredis'
import type { SessionsEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { hostPort, withDeadline } from '../failure.ts'
import type { Peer } from '../failure.ts'
import { alone, authenticate, redisCli, shared, socketTo, talk } from './client.ts'
import { command, nested } from '../../core/shell-command.ts'

type Sentinels = NonNullable<SessionsEndpoint['sentinel']>
type Address = Sentinels['nodes'][number]

/**
 * Returns the master's address from the sentinel that answers first. Asks all at once, so that a silent one delays
 * nobody. Disconnects from all, which ioredis does not do with sentinels it asks itself. If none knows the master,
 * throws what one of them says: UNAUTHENTICATED, UNAVAILABLE (no such master), UNEXPECTED_ANSWER. Otherwise throws why
 * the first in the list says nothing: UNREACHABLE, TIMED_OUT.
 */
export async function findMaster(
  endpoint: SessionsEndpoint,
  sentinels: Sentinels,
  timeoutMs: number,
): Promise<Address> {
  const { default: ioredis } = await import('ioredis')
  const over = new AbortController()
  const opened: Redis[] = []
  const answers = sentinels.nodes.map(async (node) => {
    const peer = peerOf(endpoint, sentinels, node)
    const asking = async (): Promise<Address> => {
      const client = new ioredis.Redis({ ...shared(timeoutMs), ...alone, ...(await socketTo(endpoint, node)) })
      if (over.signal.aborted) throw over.signal.reason as Error
      opened.push(client)
      return talk(client, { peer, timeoutMs }, () => ask(client, sentinels, peer))
    }
    return withDeadline(asking(), timeoutMs, peer, { signal: over.signal })
  })
  try {
    return await Promise.any(answers)
  } catch (error) {
    const failures = (error as AggregateError).errors as readonly AdminError[]
    // the answer of one says more than the silence of others
    throw failures.find(({ code }) => code !== 'UNREACHABLE' && code !== 'TIMED_OUT') ?? failures[0]!
  } finally {
    over.abort()
    for (const client of opened) client.disconnect()
  }
}

async function ask(client: Redis, { master, password }: Sentinels, peer: Peer): Promise<Address> {
  await authenticate(client, null, password)
  const found = await client.call('SENTINEL', 'get-master-addr-by-name', master)
  if (!Array.isArray(found)) {
    throw new AdminError('UNAVAILABLE', `Redis at ${peer.where} knows no master with that name`, peer.suggestions)
  }
  const [host, port] = found as [string, string]
  return { host, port: Number(port) }
}

function peerOf({ tls, reach }: SessionsEndpoint, { master, password }: Sentinels, { host, port }: Address): Peer {
  const client = redisCli({ user: null, password, tls }, { host, port })
  return {
    what: 'Redis',
    host,
    port,
    reach,
    where: `${hostPort(host, port)} (sentinel, master ${master})`,
    suggestions: [command`${nested(client)} SENTINEL masters`],
  }
}
