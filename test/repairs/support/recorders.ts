import { createServer as createHttpServer, request } from 'node:http'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { nowhere } from '../../../src/knowledge/broker.ts'

/** A recorder before a real server: it records every request of every client. */
export interface Recorder {
  /** The port for clients */
  port: number
  /** Requests, oldest first, in the protocol's words, without values */
  readonly asked: readonly string[]
  /** Returns the requests that change something, or may */
  writes(): string[]
  close(): Promise<void>
}

interface Address {
  host: string
  port: number
}

/**
 * Records PostgreSQL statements. A statement is a write unless it is sent in a read-only transaction. A function with
 * an effect is a write too.
 */
export async function recordPostgres(of: Address): Promise<Recorder> {
  const isRead = (sql: string): boolean =>
    /^(BEGIN READ ONLY;|ROLLBACK$)/.test(sql) && !effects.test(sql) && !/;\s*(COMMIT|ROLLBACK|END)\b[^]*;/i.test(sql)
  return recording(of, isRead, (note) => {
    // a request for encryption and the startup message have no type byte
    let isGreeted = false
    return cutting((buffer) => {
      const head = isGreeted ? 1 : 0
      if (buffer.length < head + 4) return 0
      const length = head + buffer.readUInt32BE(head)
      if (buffer.length < length) return 0
      const type = isGreeted ? String.fromCharCode(buffer[0]!) : ''
      isGreeted ||= length > 8
      const words = buffer.toString('utf8', head + 4, length).split('\0')
      if (type === 'Q') note(words[0]!)
      else if (type === 'P') note(words[1]!)
      else if (type === 'd' || type === 'F') note(`message ${type}`)
      return length
    })
  })
}

/** What even a read-only transaction can change */
const effects = new RegExp(
  String.raw`\b(pg_(try_)?advisory\w+|pg_(terminate|cancel)_backend|pg_notify|pg_reload_conf|` +
    String.raw`pg_rotate_logfile|set_config|nextval|setval|lo_\w+|dblink\w*|COPY|NOTIFY|LOCK|CALL|DO)\b`,
  'i',
)

/** Records Redis commands. A command that is not listed as a read counts as a write. `breakAt`: as for `recording`. */
export async function recordRedis(of: Address, breakAt: BreakAt = never): Promise<Recorder> {
  const reads = new RegExp(
    '^(AUTH|SELECT|PING|QUIT|INFO|TIME|DBSIZE|SCAN|EXISTS|TYPE|P?TTL|MULTI|DISCARD|' +
      'HMGET|HGET|SMEMBERS|SCARD|ZRANGE|ZCARD|CLIENT (SETNAME|SETINFO|ID))$',
  )
  return recording(
    of,
    (asked) => reads.test(asked),
    (note) => {
      /** Commands that wait for EXEC, which carries them out; null: no transaction is begun */
      let waiting: string[] | null = null
      return cutting((buffer) => {
        const line = buffer.indexOf('\r\n')
        if (line < 0) return 0
        const words: string[] = []
        let at = line + 2
        for (let left = Number(buffer.toString('latin1', 1, line)); left > 0; left -= 1) {
          const end = buffer.indexOf('\r\n', at)
          if (end < 0) return 0
          const length = Number(buffer.toString('latin1', at + 1, end))
          if (buffer.length < end + 2 + length + 2) return 0
          words.push(buffer.toString('latin1', end + 2, end + 2 + length))
          at = end + 2 + length + 2
        }
        const [name = '', sub = ''] = words.map((word) => word.toUpperCase())
        if (name === 'EXEC') for (const it of waiting ?? []) note(it)
        if (waiting !== null && name !== 'EXEC' && name !== 'DISCARD') waiting.push(name)
        else note(name === 'CLIENT' || name === 'CONFIG' ? `${name} ${sub}` : name)
        if (name === 'MULTI') waiting = []
        else if (name === 'EXEC' || name === 'DISCARD') waiting = null
        return at
      })
    },
    breakAt,
  )
}

/**
 * Records AMQP methods. Connections, channels, passive declarations and questions for rights change nothing: RabbitMQ
 * refuses their impossible values, and nobody has the binding that they remove.
 */
export async function recordAmqp(of: Address): Promise<Recorder> {
  return recording(
    of,
    (asked) => /^(connection|channel)\.| passive$| impossible$/.test(asked),
    (note) => {
      let isGreeted = false
      let isPublishing = false
      return cutting((buffer) => {
        if (!isGreeted) {
          isGreeted = buffer.length >= 8
          return isGreeted ? 8 : 0
        }
        if (buffer.length < 7 || buffer.length < 8 + buffer.readUInt32BE(3)) return 0
        const end = 7 + buffer.readUInt32BE(3)
        const [kind, payload] = [buffer[0], buffer.subarray(7, end)]
        // how long a message lives stands in the frame after that of its method
        if (isPublishing) note(kind === 2 && payload.includes('\u0004none') ? `${publish} impossible` : publish)
        const method = kind === 1 ? methodOf(payload) : null
        isPublishing = method === publish
        if (method !== null && !isPublishing) note(method)
        return end + 1
      })
    },
  )
}

const methods: Record<string, string> = {
  '40.10': 'exchange.declare',
  '40.20': 'exchange.delete',
  '40.30': 'exchange.bind',
  '40.40': 'exchange.unbind',
  '50.10': 'queue.declare',
  '50.50': 'queue.unbind',
  '50.20': 'queue.bind',
  '50.40': 'queue.delete',
  '60.10': 'basic.qos',
  '60.20': 'basic.consume',
  '60.40': 'basic.publish',
  '60.80': 'basic.ack',
  '85.10': 'confirm.select',
}

const publish = 'basic.publish'

/** An argument by which nobody binds */
const unused = Buffer.from(`\u0015${nowhere}t\u0001`, 'latin1')

/** A length below zero, an alternate that is a number, a priority that is a text, and what nobody has */
const impossible: Readonly<Record<string, readonly Buffer[]>> = {
  'queue.declare': [Buffer.from('\u000cx-max-lengthb\u00ff', 'latin1')],
  'exchange.declare': [Buffer.from('\u0012alternate-exchangeb\u0005', 'latin1')],
  'basic.consume': [Buffer.from('\u000ax-priorityS', 'latin1')],
  'queue.unbind': [unused],
  'exchange.unbind': [unused],
}

function methodOf(payload: Buffer): string {
  const [of, method] = [payload.readUInt16BE(0), payload.readUInt16BE(2)]
  if (of === 10 || of === 20) return `${of === 10 ? 'connection' : 'channel'}.${method}`
  const name = methods[`${of}.${method}`] ?? `${of}.${method}`
  if (impossible[name]?.some((it) => payload.includes(it)) === true) return `${name} impossible`
  if (!name.endsWith('.declare')) return name
  // first a reserved short, the name, and for an exchange its type, then the flags
  let flags = 6
  for (let left = of === 40 ? 2 : 1; left > 0; left -= 1) flags += 1 + payload[flags]!
  return payload[flags]! & 1 ? `${name} passive` : name
}

/** Records HTTP requests by method and path; exchanging the API token changes nothing. */
export async function recordHttp(of: Address): Promise<Recorder> {
  const asked: string[] = []
  const server = createHttpServer((incoming, answer) => {
    const { method = '', url = '', headers } = incoming
    asked.push(`${method} ${url.replace(/\?.*/, '')}`)
    const onward = request({ ...of, method, path: url, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
    })
    onward.on('error', () => answer.destroy())
    incoming.pipe(onward)
  })
  return opened(server, asked, (it) => /^(GET|HEAD) |^POST \/api\/uaa\/oauth\/token$/.test(it))
}

/**
 * Returns a stream reader that removes whole messages from the beginning. `take` returns the length of the first
 * message in bytes, or 0 if it is incomplete.
 */
function cutting(take: (buffer: Buffer) => number): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (let length = 1; length > 0 && rest.length > 0; ) {
      length = take(rest)
      rest = rest.subarray(length)
    }
  }
}

/**
 * Decides at each request what happens to all connections, and to later ones until another request decides otherwise;
 * null: nothing.
 */
export type BreakAt = (asked: string) => 'cut' | 'silence' | null
const never: BreakAt = () => null

/** Starts a recorder. `reader`: reads one connection. */
async function recording(
  of: Address,
  isRead: (asked: string) => boolean,
  reader: (note: (asked: string) => void) => (chunk: Buffer) => void,
  breakAt: BreakAt = never,
): Promise<Recorder> {
  const asked: string[] = []
  const clients = new Set<Socket>()
  let fate: ReturnType<BreakAt> = null
  const server = createServer((client) => {
    clients.add(client)
    const read = reader((it) => {
      asked.push(it)
      fate = breakAt(it)
    })
    const onward = connect(of)
    for (const [one, other] of [
      [client, onward],
      [onward, client],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
    client.on('data', (chunk: Buffer) => {
      read(chunk)
      if (fate === null) onward.write(chunk)
      if (fate === 'cut') for (const it of clients) it.destroy()
    })
    onward.on('data', (chunk: Buffer) => void (fate === null && client.write(chunk)))
  })
  return opened(server, asked, isRead)
}

async function opened(server: Server, asked: string[], isRead: (asked: string) => boolean): Promise<Recorder> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    writes: () => asked.filter((it) => !isRead(it)),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
