import { isIP } from 'node:net'
import { hostPort, oneLine, seconds } from '../../adapters/failure.ts'
import type { HostPort, Opened, Way } from '../../core/endpoint.ts'
import { isHostName } from '../../core/host.ts'
import { AdminError } from '../../core/error.ts'
import type { RelayWish } from '../platform.ts'
import type { ByteListener, ByteStream, StreamOptions } from './channels.ts'
import { carried } from './channels.ts'
import type { KubernetesClient } from './client.ts'
import type { ExecPlace } from './exec.ts'
import { execChannels, exitCodeIn, MissingProgram, openExec } from './exec.ts'
import { serviceContainer } from './find.ts'
import { listenForward } from './forward.ts'
import { awaitPod, imagesOn, makePod, ownContainer, removeLeftovers, UnusableImage } from './short-lived.ts'
import type { Node, Pod } from './objects.ts'
import { canRun } from './pods.ts'
import { isRefusal } from './refusal.ts'
import type { ShortLived } from './short-lived.ts'
import { brokenStream, withoutAnswer, withoutStream } from './unseen.ts'

const connected = 'connected\n'
const ends = { noTool: 69, noConnection: 70 } as const
/** Seconds after which a program whose stream broke ends by itself */
const orphanSeconds = 300

/** Perl program that relays both directions at once, and passes each end on. */
const perl = `
my $s = IO::Socket::IP->new(
  PeerHost => $ARGV[0], PeerService => $ARGV[1], Type => IO::Socket::IP::SOCK_STREAM(), Timeout => 60
) or do { print STDERR "$@\\n"; exit ${ends.noConnection} };
syswrite STDERR, "connected\\n";
sub put {
  my ($to, $bytes) = @_; my $at = 0;
  while ($at < length $bytes) {
    my $n = syswrite $to, $bytes, length($bytes) - $at, $at; return 0 unless defined $n; $at += $n
  }
  1
}
my $parent = $$;
defined(my $child = fork) or exit 71;
if (!$child) {
  while (sysread STDIN, my $b, 65536) { put($s, $b) or last }
  shutdown $s, 1; close STDOUT; close STDERR; sleep ${orphanSeconds}; kill TERM => $parent; exit 0
}
my $n; while ($n = sysread $s, my $b, 65536) { put(\\*STDOUT, $b) or last }
kill TERM => $child; waitpid $child, 0; exit(defined $n ? 0 : 72)`

/** Bash program that relays both directions; a shell cannot say that it sends no more. */
const bash = `
exec 3<>"/dev/tcp/$1/$2" || exit ${ends.noConnection}
echo connected >&2
exec 4<&0
cat <&3 & out=$!
{ cat <&4 >&3; sleep ${orphanSeconds}; kill $out; } </dev/null >/dev/null 2>&1 & in=$!
wait $out; code=$?; kill $in; exit $code`

/** Script that runs the first that the image has. Host and port are parameters, never part of a program's text. */
const shell = `
if command -v perl >/dev/null && perl -MIO::Socket::IP -e 1 2>/dev/null; then
  exec perl -MIO::Socket::IP -e "$3" "$1" "$2"
fi
if command -v bash >/dev/null && command -v cat >/dev/null; then exec bash -c "$4" bash "$1" "$2"; fi
if command -v nc >/dev/null; then
  nc -z -w 60 "$1" "$2" </dev/null >&2 || exit ${ends.noConnection}; echo connected >&2; exec nc "$1" "$2"
fi
exit ${ends.noTool}`

/**
 * Opens a connection from a container to an address, by a program of its image. Throws `MissingProgram` if it has none,
 * UNREACHABLE if there is no connection from there either, CONFIGURATION, TIMED_OUT, and as `openExec`.
 */
async function openRelayStream(
  client: KubernetesClient,
  place: ExecPlace,
  { host, port }: HostPort,
  options: StreamOptions,
): Promise<ByteStream> {
  const at = hostPort(host, port)
  if (isIP(host) === 0 && !isHostName(host))
    throw new AdminError('CONFIGURATION', `${at} is not an address that a pod can reach`)
  const stream = await openExec(client, place, ['sh', '-c', shell, 'sh', host, String(port), perl, bash], {
    ...options,
    stdin: true,
  })
  const early: Buffer[] = []
  let listener: ByteListener | null = null
  let said = ''
  let status = ''
  let end: Parameters<ByteListener['close']> | null = null
  let isConnected = false
  let timer: NodeJS.Timeout | undefined
  const notOpened = async (why: string): Promise<never> => {
    if (status === '') throw brokenStream(place.pod, why)
    const code = exitCodeIn(status, { client, place, command: ['sh'], said })
    if (code === ends.noTool)
      throw new MissingProgram(
        'UNAVAILABLE',
        `the image of container \`${place.container}\` of pod \`${place.pod}\` lacks perl, bash and nc`,
      )
    throw new AdminError(
      'UNREACHABLE',
      `${at} cannot be reached from pod \`${place.pod}\`: ` +
        `${oneLine(said) || `the relay in the pod exited with ${code}`}`,
    )
  }
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(
        () =>
          reject(
            new AdminError(
              'TIMED_OUT',
              `pod \`${place.pod}\` could not connect to ${at} within ${seconds(options.timeoutMs)}`,
            ),
          ),
        options.timeoutMs,
      )
      stream.use(
        (channel, bytes) => {
          if (channel === execChannels.output) {
            if (listener) listener.data(bytes)
            else early.push(bytes)
          } else if (channel === execChannels.status) status += bytes.toString()
          else if (channel === execChannels.errors && listener === null) {
            said = (said + bytes.toString()).slice(-1000)
            if (!said.endsWith(connected)) return
            // what comes waits until somebody listens
            isConnected = true
            stream.pause()
            resolve()
          }
        },
        ({ isBroken, why }) => {
          const lost = async (): Promise<unknown> => withoutStream(client, place, brokenStream(place.pod, why))
          const how: typeof end = [isBroken || !/"status":\s*"Success"/.test(status), status === '' ? lost : undefined]
          end = how
          if (listener) return listener.close(...how)
          if (!isConnected) resolve(notOpened(why))
        },
      )
    })
  } catch (error) {
    stream.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
  return carried(stream, execChannels.input, (on) => {
    listener = on
    for (const bytes of early.splice(0)) on.data(bytes)
    if (end) on.close(...end)
    else stream.resume()
  })
}

interface Around {
  namespace: string
  /** Returns the pods of the service as they are now */
  pods: () => Promise<readonly Pod[]>
  wish: RelayWish
  signal?: AbortSignal | undefined
}

/** Ways through the cluster to servers outside it, open until all are closed. */
export interface Relay {
  /**
   * Opens a way to an address. Throws UNREACHABLE if the cluster does not reach it either, UNAVAILABLE if nothing there
   * can carry it, FORBIDDEN, and as the client does
   */
  open(address: HostPort): Promise<Opened<Way>>
  /** Removes what was made for it; never throws */
  close(): Promise<void>
}

/** Maximum number of the service's pods, and of nodes' images, to try: each may lack the programs */
const mostTries = 4
const leastPodMs = 30_000
/** Seconds after which the pod of a killed process ends by itself */
const podSeconds = 4 * 3600

/**
 * Returns a relay. The service's own pods carry it if they have the programs, and it need not outlast them. Else a pod
 * is made for all connections, with an image that one of the nodes has.
 */
export function relayThrough(client: KubernetesClient, { namespace, pods, wish, signal }: Around): Relay {
  let made: Promise<ShortLived> | null = null
  const streamFrom = async (place: ExecPlace, address: HostPort): Promise<ByteStream> =>
    openRelayStream(client, place, address, { timeoutMs: client.timeoutMs })

  const fromService = async (address: HostPort): Promise<ByteStream | null> => {
    for (const { metadata, spec } of (await pods()).filter(canRun).slice(0, mostTries)) {
      const container = serviceContainer(spec)?.name ?? ''
      try {
        return await streamFrom({ namespace, pod: metadata.name, container }, address)
      } catch (error) {
        // it lacks the programs, has just ended, or its node cannot be reached
        if (!isUnavailable(error) && !isBeyond(error)) throw error
      }
    }
    return null
  }

  const make = async (address: HostPort): Promise<ShortLived> => {
    if (!wish.mayMakePods)
      throw new AdminError(
        'REFUSED',
        'no pod of the service can relay a connection, and this command must not create a pod',
        [],
        { obstacle: { kind: 'beyond' } },
      )
    await removeLeftovers(client, namespace, 'relay', wish.tell)
    let last: AdminError | null = null
    let tries = 0
    const closed = new Set<string>()
    for (const { node, image } of await placesFor(client, namespace, await pods())) {
      if (closed.has(node)) continue
      if ((tries += 1) > mostTries) break
      const pod = await makePod(
        client,
        namespace,
        { purpose: 'relay', node, image, command: ['sleep', String(podSeconds)], lifeSeconds: podSeconds },
        wish.tell,
      )
      try {
        await awaitPod(client, namespace, pod.name, 'running', {
          timeoutMs: Math.max(leastPodMs, client.timeoutMs),
          signal,
        }).catch((error: unknown) => {
          throw withoutAnswer(error)
        })
        // a trial stream shows what the image lacks
        const proof = await streamFrom({ namespace, pod: pod.name, container: ownContainer }, address)
        proof.close()
        return pod
      } catch (error) {
        await pod.remove()
        if (!isUnavailable(error) && !isBeyond(error)) throw error
        // a node that takes no more pods takes none with another image either
        if (!(error instanceof UnusableImage || error instanceof MissingProgram)) closed.add(node)
        last = error
      }
    }
    const why =
      last === null
        ? 'no node reports an image from which a pod could be started'
        : `the last attempt failed: ${last.message}`
    throw new AdminError(
      'UNAVAILABLE',
      `cannot relay the connection through a new pod: ${why}`,
      [client.kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].status.images[*].names[-1]}')],
      { obstacle: { kind: 'beyond' } },
    )
  }
  const ownPod = async (address: HostPort): Promise<ShortLived> => {
    const making = (made ??= make(address))
    making.catch(() => (made = made === making ? null : made))
    return making
  }

  const stream = async (address: HostPort): Promise<ByteStream> => {
    const carried = wish.isLasting || made ? null : await fromService(address)
    if (carried) return carried
    const pod = await ownPod(address)
    const place = { namespace, pod: pod.name, container: ownContainer }
    return streamFrom(place, address).catch(async (error: unknown) => {
      if (!isRefusal(error, 404)) throw error
      // it was evicted, or somebody has removed it
      made = null
      return streamFrom({ ...place, pod: (await ownPod(address)).name }, address)
    })
  }
  return {
    async open(address) {
      const { source, close } = await listenForward(async () => stream(address))
      return { source: { ...source, command: null }, close }
    },
    async close() {
      const pod = await made?.catch(() => null)
      made = null
      await pod?.remove()
    },
  }
}

/**
 * Lists nodes and the images that they have, those of the service's pods first. For a user who may not list nodes: the
 * nodes and images of the namespace's pods.
 */
async function placesFor(
  client: KubernetesClient,
  namespace: string,
  own: readonly Pod[],
): Promise<{ node: string; image: ReturnType<typeof imagesOn>[number] }[]> {
  const pods = await client.list<Pod>({ resource: 'pods', namespace })
  const nodes = await client.list<Node>({ resource: 'nodes', namespace: null }).catch((error: unknown) => {
    if (error instanceof AdminError && error.code === 'FORBIDDEN') return []
    throw error
  })
  const isDown = (name: string): boolean =>
    nodes.some(
      ({ metadata, status }) =>
        metadata.name === name && status?.conditions?.some(({ type, status: it }) => type === 'Ready' && it !== 'True'),
    )
  const names = [...own, ...pods].flatMap(({ spec }) => spec.nodeName ?? [])
  return [...new Set([...names, ...nodes.map(({ metadata }) => metadata.name)])]
    .filter((name) => !isDown(name))
    .flatMap((node) => imagesOn(node, nodes, pods).map((image) => ({ node, image })))
}

function isBeyond(error: unknown): error is AdminError {
  return error instanceof AdminError && error.obstacle?.kind === 'beyond'
}

function isUnavailable(error: unknown): error is AdminError {
  return error instanceof AdminError && error.code === 'UNAVAILABLE'
}
