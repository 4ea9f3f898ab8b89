import { oneLine, seconds } from '../../adapters/failure.ts'
import { isRecord } from '../../adapters/http.ts'
import { AdminError } from '../../core/error.ts'
import { typed } from '../../core/typed.ts'
import { parsed } from './bodies.ts'
import type { Channels, StreamOptions } from './channels.ts'
import type { KubernetesClient } from './client.ts'
import { openStream } from './channels.ts'
import { withoutStream } from './unseen.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** Where to run a program. */
export interface ExecPlace {
  namespace: string
  pod: string
  container: string
}

interface ExecOptions extends StreamOptions {
  /** Maximum bytes of output; 1 MB by default */
  maxBytes?: number
  signal?: AbortSignal | undefined
}

/** How a program in a container ended. */
export interface Execution {
  exitCode: number
  stdout: string
  /** The end of its error output */
  stderr: string
}

/** The error for an image that lacks the program. */
export class MissingProgram extends AdminError {}

/**
 * Channels of a program in a container: its input, its outputs, and how it ended (kubernetes.io, "Kubernetes API
 * Concepts"; KEP-4006).
 */
export const execChannels = { input: 0, output: 1, errors: 2, status: 3 } as const

const keptErrors = 4000

/**
 * Runs a program in a container, without a shell. Everyone who sees the container's processes can read its arguments:
 * pass no secret. Does not stop a program that takes too long. Throws `MissingProgram`, TIMED_OUT, INTERRUPTED,
 * FORBIDDEN, UNAVAILABLE if the container does not run, UNEXPECTED_ANSWER if it prints more than `maxBytes`, and as the
 * client does.
 */
export async function execIn(
  client: KubernetesClient,
  place: ExecPlace,
  command: readonly string[],
  options: ExecOptions,
): Promise<Execution> {
  const { timeoutMs, maxBytes = 1_000_000, signal } = options
  const shown = `\`${typed(command)}\` in pod \`${place.pod}\``
  const stream = await openExec(client, place, command, options)
  const output: Buffer[] = []
  let length = 0
  let stderr = ''
  let status: Buffer = Buffer.alloc(0)
  let timer: NodeJS.Timeout | undefined
  let interrupt: () => void = () => undefined
  try {
    await new Promise<void>((resolve, reject) => {
      const suggestions = [commandFor(client, place, command)]
      timer = setTimeout(
        () => reject(new AdminError('TIMED_OUT', `${shown} did not finish within ${seconds(timeoutMs)}`, suggestions)),
        timeoutMs,
      )
      interrupt = () => reject(signal?.reason as Error)
      signal?.addEventListener('abort', interrupt)
      // the signal may have come while the stream was opened
      if (signal?.aborted) interrupt()
      stream.use(
        (channel, bytes) => {
          if (channel === execChannels.output) {
            output.push(bytes)
            length += bytes.length
            if (length > maxBytes)
              reject(new AdminError('UNEXPECTED_ANSWER', `${shown} prints more than ${maxBytes} bytes`, suggestions))
          }
          if (channel === execChannels.errors) stderr = (stderr + bytes.toString()).slice(-keptErrors)
          if (channel === execChannels.status) status = Buffer.concat([status, bytes])
        },
        ({ why }) => {
          if (status.length > 0) resolve()
          else reject(new AdminError('UNREACHABLE', `the stream of ${shown} broke: ${why}`, suggestions))
        },
      )
    })
  } catch (error) {
    stream.destroy()
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', interrupt)
  }
  stream.close()
  const stdout = new TextDecoder().decode(Buffer.concat(output))
  return { exitCode: exitCodeIn(status.toString(), { client, place, command, said: stderr + stdout }), stdout, stderr }
}

/**
 * Starts a program in a container and returns its stream; with `stdin`, what is sent is its standard input. Throws as
 * `execIn`.
 */
export async function openExec(
  client: KubernetesClient,
  place: ExecPlace,
  command: readonly string[],
  options: StreamOptions & { stdin?: boolean },
): Promise<Channels> {
  const { namespace, pod, container } = place
  const { stdin = false, ...stream } = options
  const query = { container, command, stdout: true, stderr: true, ...(stdin && { stdin }) }
  return openStream(
    client,
    { resource: 'pods', namespace, name: pod, subresource: 'exec', query },
    `\`${command[0]}\` in pod \`${pod}\``,
    stream,
  ).catch(async (error: unknown) => {
    throw await withoutStream(client, { namespace, pod }, error)
  })
}

interface Ran {
  client: KubernetesClient
  place: ExecPlace
  command: readonly string[]
  said: string
}

/** Reads the exit code from the last channel's message, a `Status` of the API. Throws if the program did not start. */
export function exitCodeIn(text: string, ran: Ran): number {
  const status = parsed(text)
  if (!isRecord(status)) throw notRun(oneLine(text), ran)
  if (status['status'] === 'Success') return 0
  const { details, reason, message } = status
  const causes = isRecord(details) && Array.isArray(details['causes']) ? details['causes'].filter(isRecord) : []
  const code = Number(causes.find((it) => it['reason'] === 'ExitCode')?.['message'])
  if (reason !== 'NonZeroExitCode' || !Number.isInteger(code))
    throw notRun(typeof message === 'string' ? message : text, ran)
  // some runtimes start programs through a helper, whose message this is
  if ((code === 126 || code === 127) && /OCI runtime exec failed|executable file/.test(ran.said))
    throw notRun(ran.said, ran)
  return code
}

/**
 * Explains why a program did not start. runc: `exec: "x": executable file not found in $PATH`, `stat /bin/x: no such
 * file or directory`; crun: ``executable file `x` not found``.
 */
function notRun(said: string, { client, place, command }: Ran): AdminError {
  const { pod, container, namespace } = place
  const suggestions = [commandFor(client, place, command)]
  if (/executable file (?:`[^`]*` )?not found|: no such file or directory/i.test(said)) {
    return new MissingProgram(
      'UNAVAILABLE',
      `the image of container \`${container}\` of pod \`${pod}\` has no \`${command[0]}\``,
      suggestions,
    )
  }
  if (/container not found|container (?:(?!container ).)* is not running/i.test(said)) {
    return new AdminError('UNAVAILABLE', `container \`${container}\` of pod \`${pod}\` is not running`, [
      client.kubectl('-n', namespace, 'get', 'pod', pod),
    ])
  }
  // a server with v5 opens the stream first, and says only then that it does not reach the kubelet
  if (/error (?:sending request|dialing backend)/.test(said)) {
    return new AdminError(
      'UNREACHABLE',
      `${client.cluster} could not connect this machine to pod \`${pod}\`: ${oneLine(said)}`,
      suggestions,
      { obstacle: { kind: 'beyond' } },
    )
  }
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `\`${typed(command)}\` could not be run in pod \`${pod}\`: ${oneLine(said)}`,
    suggestions,
  )
}

/** Returns the command that an operator would type. */
export function commandFor(
  client: KubernetesClient,
  { namespace, pod, container }: ExecPlace,
  command: readonly string[],
): ShellCommand {
  return client.kubectl('-n', namespace, 'exec', pod, '-c', container, '--', ...command)
}
