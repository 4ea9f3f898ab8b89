import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { IncomingMessage } from 'node:http'
import { env } from 'node:process'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Cluster } from './cluster.ts'
import { containerOf } from './logs.ts'
import type { Asked } from './request.ts'
import type { Pod } from './resources.ts'
import { badRequest, kubeletRefuses, kubeletUnreachable } from './status.ts'
import { frame, upgraded } from './streams.ts'

/** What is asked to be run in a pod. */
export interface ExecCall {
  pod: Pod
  container: string
  command: string[]
}

/** In the place of an image that has these programs and no others: this machine's own are run. */
export function localPrograms(...names: readonly string[]): (call: ExecCall) => ChildProcessWithoutNullStreams | null {
  return ({ command: [program = '', ...words] }) =>
    names.includes(program) ? spawn(program, words, { env: { PATH: env['PATH'] } }) : null
}

const current = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const

/**
 * `pods/exec` as the API server serves it over a WebSocket: 0 standard input, 1 output, 2 errors, and on 3 how it
 * ended. Throws 400 for a container that is not there, and a pod that has no node. A program outlives the stream, with
 * its input at its end, as in containerd.
 */
export function answerExec(
  { namespace, name, query }: Asked,
  cluster: Cluster,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const pod = cluster.get('pods', namespace, name ?? '') as Pod
  const container = containerOf(pod, query.get('container'))
  if (!pod.spec.nodeName) throw badRequest(`pod ${name} does not have a host assigned`)
  const command = query.getAll('command')
  // it asks the kubelet first, unless the client knows v5, for which it opens the stream itself
  const isFifth =
    (request.headers['sec-websocket-protocol'] ?? '').split(',').some((it) => it.trim() === current[0]) &&
    (cluster.execProtocols ?? current).includes(current[0])
  const isHidden = cluster.isHidden('exec', pod)
  if (!isFifth && isHidden) throw kubeletUnreachable()
  cluster.streams.add(socket)
  socket.once('close', () => cluster.streams.delete(socket))
  upgraded(request, socket, head, cluster.execProtocols ?? current, (stream) => {
    const end = (status: object): void =>
      stream.send(frame(3, JSON.stringify({ metadata: {}, ...status })), () => stream.close(1000))
    const fail = (said: string): void =>
      end({
        status: 'Failure',
        message: `Internal error occurred: ${said}`,
        reason: 'InternalError',
        details: { causes: [{ message: said }] },
        code: 500,
      })
    if (isHidden)
      return fail(
        'error sending request: Post ' +
          `"https://10.99.0.1:10251/exec/${namespace}/${name}/${container}?command=${command[0]}&error=1&output=1": ` +
          `${kubeletRefuses}`,
      )
    const state = pod.status.containerStatuses?.find((it) => it.name === container)?.state
    if (!state?.['running']) return fail(`unable to upgrade connection: container not found ("${container}")`)
    const program = cluster.hooks.exec?.({ pod, container, command }) ?? null
    if (program === null) {
      return fail(
        'error executing command in container: failed to exec in container: failed to start exec ' +
          '"fc7ef1a745ff": OCI runtime exec failed: exec failed: unable to start container process: exec: ' +
          `"${command[0]}": executable file not found in $PATH: unknown`,
      )
    }
    cluster.programs.add(program)
    program.once('exit', () => cluster.programs.delete(program))
    program.once('close', (code) => end(code === 0 ? { status: 'Success' } : failed(code ?? 137)))
    join(stream, program, query)
  })
}

/** No faster than it is taken. */
function join(stream: WebSocket, program: ChildProcessWithoutNullStreams, query: URLSearchParams): void {
  for (const [channel, output] of [
    [1, program.stdout],
    [2, program.stderr],
  ] as const) {
    output.on('data', (bytes: Buffer) => {
      output.pause()
      stream.send(frame(channel, bytes), () => output.resume())
    })
  }
  program.stdin.on('error', () => undefined)
  // it drains no more once its end has been said, or its program has ended
  for (const event of ['drain', 'finish', 'close'] as const) program.stdin.on(event, () => stream.resume())
  if (query.get('stdin') !== 'true') program.stdin.end()
  stream.on('message', (bytes: Buffer) => {
    if (bytes[0] === 255) return void (bytes[1] === 0 && program.stdin.end())
    if (bytes[0] === 0 && !program.stdin.write(bytes.subarray(1))) stream.pause()
  })
  stream.on('close', () => {
    program.stdin.end()
    program.stdout.destroy()
    program.stderr.destroy()
  })
}

function failed(code: number): object {
  return {
    status: 'Failure',
    message: `command terminated with non-zero exit code: error executing command, exit code ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  }
}
