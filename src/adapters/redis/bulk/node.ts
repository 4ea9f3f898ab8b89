import { AdminError } from '../../../core/error.ts'
import { withDeadline } from '../../failure.ts'
import type { Peer } from '../../failure.ts'
import type { SessionTimes } from '../../../core/sources.ts'
import type { Connection } from '../connect.ts'
import { redisFailure } from '../client.ts'
import { sessionTimes, timeFields } from '../sample.ts'
import { assertAnswer, command, commandForEach, errorIn, integerIn, listIn, noKeys, stringsIn } from './page.ts'
import type { Page } from './page.ts'
import { wireOf } from './wire.ts'
import type { Wire } from './wire.ts'

/** One server, or one master of a cluster, for commands on very many keys. */
export interface Node {
  /** host:port, which identifies it on another connection too */
  name: string
  wire: Wire
  peer: Peer
  /** True in a cluster, where a command takes only keys of one slot */
  isInCluster: boolean
}

/** keys that one SCAN looks at: some 2 ms of the server's time */
const keysPerScan = 2000

/** Returns the connection's servers, which ioredis no longer controls. Throws as connecting does. */
export async function nodesOf({ servers, peer, isCluster }: Connection, timeoutMs: number): Promise<Node[]> {
  return Promise.all(
    servers.map(async (server) => {
      try {
        // ioredis connects to the masters of a cluster on first use
        if (server.status === 'wait') await withDeadline(server.connect(), timeoutMs, peer)
      } catch (error) {
        throw redisFailure(error, peer)
      }
      const { host, port } = server.options
      return { name: `${host}:${port}`, wire: wireOf(server, peer, timeoutMs), peer, isInCluster: isCluster }
    }),
  )
}

interface Sought {
  match: string
  /** null for any type */
  type: 'hash' | 'string' | 'set' | null
}

/** Yields every key of that type whose name matches, as pages. Some come twice while the store reorganises itself. */
export async function* scan(node: Node, sought: Sought): AsyncGenerator<Page> {
  let next = scanned(node, '0', sought)
  for (;;) {
    const { cursor, page } = await next
    const isLast = cursor === '0'
    // the store continues to scan while this page is handled
    if (!isLast) {
      next = scanned(node, cursor, sought)
      next.catch(() => undefined)
    }
    if (page.count > 0) yield page
    if (isLast) return
  }
}

async function scanned(
  { wire, peer }: Node,
  from: string,
  { match, type }: Sought,
): Promise<{ cursor: string; page: Page }> {
  let answer = { cursor: '0', page: noKeys }
  const words = ['SCAN', from, 'MATCH', match, 'COUNT', String(keysPerScan), ...(type === null ? [] : ['TYPE', type])]
  await wire.send([command(...words)], 1, (reply) => {
    if (errorIn(reply)?.startsWith('ERR syntax')) throw tooOld(peer)
    assertAnswer(reply, peer)
    // *2 CRLF, the cursor as a bulk string, the list
    const line = reply.indexOf(0x0d, 4)
    const list = reply.indexOf(0x0d, line + 2) + 2
    answer = { cursor: reply.toString('latin1', line + 2, list - 2), page: listIn(reply, list) }
  })
  return answer
}

function tooOld({ where, suggestions }: Peer): AdminError {
  return new AdminError(
    'UNAVAILABLE',
    `Redis at ${where} is older than 6.0: it cannot search keys by type (\`SCAN … TYPE\`)`,
    suggestions,
  )
}

/** Reads the three times of each key of a page; null for a key that is not a hash or has none of them. */
export async function timesOf({ wire, peer }: Node, page: Page): Promise<(SessionTimes | null)[]> {
  const times: (SessionTimes | null)[] = []
  await wire.send([commandForEach(['HMGET'], page, timeFields)], page.count, (reply) => {
    if (errorIn(reply)?.startsWith('WRONGTYPE')) return void times.push(null)
    assertAnswer(reply, peer)
    times.push(sessionTimes(stringsIn(reply), -1))
  })
  return times
}

export async function integer(node: Node, ...words: readonly string[]): Promise<number> {
  let answer = 0
  await node.wire.send([command(...words)], 1, (reply) => (answer = integerIn(reply, node.peer)))
  return answer
}

/** Reads the server's clock, in epoch milliseconds. */
export async function timeOf({ wire, peer }: Node): Promise<number> {
  let time = 0
  await wire.send([command('TIME')], 1, (reply) => {
    assertAnswer(reply, peer)
    const [seconds, microseconds] = stringsIn(reply).map(Number)
    time = Math.floor(seconds! * 1000 + microseconds! / 1000)
  })
  return time
}

/** Reads the list at a key, empty if the key is missing; null if it is of another type or on another node. */
export async function listAt({ wire, peer }: Node, question: Buffer): Promise<Page | null> {
  let page: Page | null = null
  await wire.send([question], 1, (reply) => {
    if (/^(MOVED|WRONGTYPE) /.test(errorIn(reply) ?? '')) return
    assertAnswer(reply, peer)
    page = listIn(reply)
  })
  return page
}
