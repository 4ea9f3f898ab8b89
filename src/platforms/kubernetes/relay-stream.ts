import { isIP } from 'node:net'
import { hostPort, oneLine, seconds } from '../../adapters/failure.ts'
import { AdminError } from '../../core/error.ts'
import type { HostPort } from '../../core/endpoint.ts'
import { isHostName } from '../../core/host.ts'
import { carried } from './byte-stream.ts'
import type { ByteListener, ByteStream } from './byte-stream.ts'
import type { KubernetesClient } from './client.ts'
import { execChannels, exitCodeIn, MissingProgram, openExec } from './exec.ts'
import type { ExecPlace } from './exec.ts'
import type { StreamOptions } from './stream.ts'
import { brokenStream, withoutStream } from './unseen.ts'

const connected = 'connected\n'
const ends = { noTool: 69, noConnection: 70 } as const
/** Seconds after which a program whose stream broke ends by itself */
const orphanSeconds = 300

/** Perl program that relays both directions at once, and passes each end on. */
const perl = `
my $s = IO::Socket::IP->new(PeerHost => $ARGV[0], PeerService => $ARGV[1], Type => IO::Socket::IP::SOCK_STREAM(), Timeout => 60) or do { print STDERR "$@\\n"; exit ${ends.noConnection} };
syswrite STDERR, "connected\\n";
sub put { my ($to, $bytes) = @_; my $at = 0; while ($at < length $bytes) { my $n = syswrite $to, $bytes, length($bytes) - $at, $at; return 0 unless defined $n; $at += $n } 1 }
my $parent = $$;
defined(my $child = fork) or exit 71;
if (!$child) { while (sysread STDIN, my $b, 65536) { put($s, $b) or last } shutdown $s, 1; close STDOUT; close STDERR; sleep ${orphanSeconds}; kill TERM => $parent; exit 0 }
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
if command -v perl >/dev/null && perl -MIO::Socket::IP -e 1 2>/dev/null; then exec perl -MIO::Socket::IP -e "$3" "$1" "$2"; fi
if command -v bash >/dev/null && command -v cat >/dev/null; then exec bash -c "$4" bash "$1" "$2"; fi
if command -v nc >/dev/null; then nc -z -w 60 "$1" "$2" </dev/null >&2 || exit ${ends.noConnection}; echo connected >&2; exec nc "$1" "$2"; fi
exit ${ends.noTool}`

/**
 * Opens a connection from a container to an address, by a program of its image. Throws `MissingProgram` if it has none,
 * UNREACHABLE if there is no connection from there either, CONFIGURATION, TIMED_OUT, and as `openExec`.
 */
export async function openRelayStream(
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
        `the image of container \`${place.container}\` of pod \`${place.pod}\` has neither perl, bash nor nc`,
      )
    throw new AdminError(
      'UNREACHABLE',
      `${at} cannot be reached from pod \`${place.pod}\` either: ${oneLine(said) || `its program exited with ${code}`}`,
    )
  }
  try {
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(
        () =>
          reject(
            new AdminError(
              'TIMED_OUT',
              `pod \`${place.pod}\` had no connection to ${at} within ${seconds(options.timeoutMs)}`,
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
