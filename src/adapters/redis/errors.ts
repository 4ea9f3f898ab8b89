import { AdminError, messageOf } from '../../core/error.ts'
import { networkFailure, oneLine, peerFailure } from '../failure.ts'
import type { Peer } from '../failure.ts'
import { command } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/** Explains an error reply of Redis, or a broken connection, to the operator. */
export function redisFailure(thrown: unknown, peer: Peer): AdminError {
  if (thrown instanceof AdminError) return thrown
  // ioredis's error for a whole cluster hides the error of its last node
  const { lastNodeError } = thrown as { lastNodeError?: unknown }
  if (lastNodeError instanceof Error) return redisFailure(lastNodeError, peer)
  const server = `Redis at ${peer.where}`
  const said = oneLine(messageOf(thrown))
  const make = (
    code: AdminError['code'],
    message: string,
    suggestions: readonly Suggestion[] = peer.suggestions,
  ): AdminError => new AdminError(code, message, suggestions, { cause: thrown })
  if (/^NOAUTH/.test(said)) return make('UNAUTHENTICATED', `${server} asks for a password, but none is configured`)
  if (/^WRONGPASS|^ERR invalid password/.test(said))
    return make('UNAUTHENTICATED', `${server} refused the user or the password`)
  if (/^NOPERM/.test(said))
    return make('FORBIDDEN', `${server} does not give this user the rights that it needs: ${said}`, [
      command`redis-cli -h ${peer.host} -p ${peer.port} --askpass ACL LIST`,
    ])
  if (/^LOADING/.test(said)) return make('UNREACHABLE', `${server} is still loading its data`)
  if (/^MASTERDOWN|^CLUSTERDOWN/.test(said)) return make('UNREACHABLE', `${server} cannot serve: ${said}`)
  if (/^READONLY/.test(said) && peer.where.includes('(sentinel, '))
    return make(
      'UNAVAILABLE',
      `${server} is now a replica and accepts no writes: the sentinels have another master, or will soon`,
    )
  if (/^READONLY/.test(said))
    return make('REFUSED', `${server} is a replica and accepts no writes: name its master in the configuration`)
  if (/^MISCONF/.test(said))
    return make('UNAVAILABLE', `${server} accepts no writes while it cannot save its data to its disk`, [
      command`redis-cli -h ${peer.host} -p ${peer.port} --askpass INFO persistence   # rdb_last_bgsave_status; its log says why`,
    ])
  if (/^NOREPLICAS/.test(said)) return make('UNAVAILABLE', `${server} accepts no writes while it has too few replicas`)
  if (/^(MOVED|ASK|TRYAGAIN) /.test(said)) return make('UNAVAILABLE', `${server} is moving its slots to other nodes`)
  if (/max number of clients reached/.test(said)) return make('EXHAUSTED', `${server} has no free connection: ${said}`)
  if (/^DENIED/.test(said))
    return make('FORBIDDEN', `${server} runs in protected mode and accepts only connections from its own machine`)
  if (/^ERR DB index is out of range|^ERR invalid DB index/.test(said))
    return make('UNAVAILABLE', `${server} has no database with that number`)
  const unknown = /^ERR unknown command [`']?([\w-]+)/i.exec(said)?.[1]
  if (unknown) return make('UNAVAILABLE', `${server} does not know the command ${unknown}: it is renamed or disabled`)
  const network = networkFailure(thrown, peer)
  if (network) return network
  if (/connection is closed|isn't writeable|connection due to close/i.test(said))
    return make('UNREACHABLE', `${server} closed the connection`)
  return peerFailure(thrown, peer)
}

/** True if a server other than Redis answered. */
export function isForeign(thrown: unknown): boolean {
  return (
    thrown instanceof Error && (thrown.name === 'ParserError' || /protocol error|unknown RESP/i.test(thrown.message))
  )
}
