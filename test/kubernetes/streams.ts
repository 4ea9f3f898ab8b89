import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'

const servers = new Map<string, WebSocketServer>()

/** Answers an upgrade as a kubelet that knows these protocols does; `treat` gets the stream. */
export function upgraded(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  protocols: readonly string[],
  treat: (stream: WebSocket) => void,
): void {
  const known = protocols.join()
  const server =
    servers.get(known) ??
    new WebSocketServer({ noServer: true, handleProtocols: (asked) => protocols.find((it) => asked.has(it)) ?? false })
  servers.set(known, server)
  server.handleUpgrade(request, socket, head, (stream) => {
    stream.on('error', () => undefined)
    treat(stream)
  })
}

/** A message as a kubelet sends it. */
export function frame(channel: number, content: string | Buffer | readonly number[]): Buffer {
  return Buffer.concat([
    Buffer.from([channel]),
    typeof content === 'string' ? Buffer.from(content) : Buffer.from(content),
  ])
}

interface Forwarding {
  protocols?: readonly string[]
  /** what listens on that port of the pod; null: nothing */
  connect: (port: number) => Socket | null
}

/**
 * `pods/portforward` as the kubelet serves it over a WebSocket: each channel begins with the port, errors are text on
 * the second, and the stream ends with the connection in the pod.
 */
export function forwardPorts(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  { protocols = ['v4.channel.k8s.io'], connect }: Forwarding,
): void {
  const port = Number(new URL(request.url ?? '', 'http://api').searchParams.get('ports'))
  const prefix = [port & 255, port >> 8]
  upgraded(request, socket, head, protocols, (stream) => {
    for (const channel of [0, 1]) stream.send(frame(channel, prefix))
    const inPod = connect(port)
    if (inPod === null) {
      stream.send(
        frame(1, `error forwarding port ${port} to pod: dial tcp4 127.0.0.1:${port}: connect: connection refused`),
      )
      return stream.close(1000)
    }
    stream.on('message', (bytes: Buffer) => {
      if (bytes[0] === 255) return void inPod.end()
      inPod.write(bytes.subarray(1))
    })
    stream.on('close', () => inPod.destroy())
    inPod.on('data', (bytes) => stream.send(frame(0, bytes)))
    inPod.on('error', (error) => stream.send(frame(1, error.message)))
    inPod.on('close', () => stream.close(1000))
  })
}
