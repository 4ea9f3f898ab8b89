import type { Duplex } from 'node:stream'
import type { HostPort } from '../../core/endpoint.ts'
import type { Container } from './containers.ts'
import type { Engine } from './engine.ts'

/**
 * What passes standard input and output on to an address, of what is found in images: `sh -c RELAY sh HOST PORT`. It
 * ends when either side does: the engine leaves what it runs in a container alone when its client goes. It leaves no
 * process behind, whose end the first process of the container would be told of: PostgreSQL takes one that a signal
 * ended for a backend that crashed, and ends all others (postmaster.c, CleanupBackend). `nc` comes last: BusyBox's, in
 * images without bash, passes the end of its input on, and others hold the connection until the server ends it (nc(1),
 * -N).
 */
const relay = `
if command -v socat >/dev/null; then exec socat - "TCP:$1:$2"; fi
if ! command -v bash >/dev/null; then exec nc "$1" "$2"; fi
exec bash -c '
  exec 3<>"/dev/tcp/$1/$2" 4<&0 || exit 1
  cat <&4 >&3 & to=$!
  cat <&3 & from=$!
  wait -n
  kill -0 $from 2>/dev/null && sleep 1
  kill $to $from 2>/dev/null
  wait
  exit 0' bash "$1" "$2"
`

/** Whether a container has what a relay in it needs. Throws where the engine cannot be asked. */
export async function canRelay(engine: Engine, { name }: Container): Promise<boolean> {
  const { exitCode } = await engine.ask([
    'exec',
    name,
    'sh',
    '-c',
    'command -v socat || command -v bash || command -v nc',
  ])
  return exitCode === 0
}

/**
 * A connection to a port of a container, made within it: by its own address where it has one, since servers believe
 * more of what comes from a loopback address.
 */
export function relayTo(engine: Engine, { name, networks }: Container, port: HostPort['port']): Duplex {
  const host = networks.find(({ address }) => address !== '')?.address ?? '127.0.0.1'
  return engine.stream(['exec', '--interactive', name, 'sh', '-c', relay, 'sh', host, String(port)])
}
