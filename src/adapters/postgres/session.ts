import type { Socket } from 'node:net'
import { connect, isIP } from 'node:net'
import { userInfo } from 'node:os'
import { connect as connectTls } from 'node:tls'
import type { Client } from 'pg'
import type { DatabaseEndpoint, HostPort, Tls } from '../../core/endpoint.ts'
import { listenersOn, typedOn } from '../../core/host.ts'
import { AdminError } from '../../core/error.ts'
import { command } from '../../core/shell-command.ts'
import { atMost } from '../../core/work.ts'
import type { Peer } from '../failure.ts'
import { hostPort, oneLine, placeOf, readable, withDeadline } from '../failure.ts'
import type { Login } from './errors.ts'
import { databaseFailure, psql, sqlState } from './errors.ts'

/** The frame that asks a PostgreSQL server for TLS. */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/**
 * Opens a connection to PostgreSQL before its first message, encrypted as `tls` says. With pgjdbc's `prefer`, encrypts
 * it if the server offers TLS. `onSocket` gets the socket at once, so that a deadline can destroy it.
 */
async function openSocket(peer: Peer, tls: Tls, onSocket: (socket: Socket) => void): Promise<Socket> {
  const place = await placeOf(peer)
  const socket = place.host.startsWith('/') ? connect(`${place.host}/.s.PGSQL.${place.port}`) : connect(place)
  onSocket(socket)
  // a reset must never end the process; other listeners report it to the callers
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (tls.mode === 'disable' || peer.host.startsWith('/')) return socket
  socket.write(sslRequest)
  const answer = await firstBytes(socket)
  if (answer[0] === 0x53) return secure(socket, peer, tls)
  if (answer[0] === 0x4e && answer.length === 1) {
    if (tls.mode === 'prefer') return socket
    socket.destroy()
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `PostgreSQL at ${peer.where} does not support TLS, but the configuration requires it`,
      peer.suggestions,
      { obstacle: { kind: 'tls', host: peer.host, port: peer.port } },
    )
  }
  socket.destroy()
  throw strangeAnswer(answer, peer)
}

/** Returns the error for a server that is not PostgreSQL, or that is too busy to fork a process. */
function strangeAnswer(answer: Buffer, peer: Peer): AdminError {
  const text = answer.subarray(1).toString('utf8')
  if (answer[0] === 0x45 && /could not fork/.test(text)) {
    return new AdminError(
      'EXHAUSTED',
      `PostgreSQL at ${peer.where} cannot start another process: ${oneLine(text)}`,
      peer.suggestions,
    )
  }
  const line = readable(answer)
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `the server at ${peer.host}:${peer.port} is not PostgreSQL${line ? `: it answered '${line}'` : ''}`,
    [typedOn(peer.host, listenersOn(peer.port))],
  )
}

async function secure(socket: Socket, peer: Peer, tls: Tls): Promise<Socket> {
  const encrypted = connectTls({
    socket,
    host: peer.host,
    rejectUnauthorized: tls.mode === 'verify',
    ...(isIP(peer.host) === 0 ? { servername: peer.host } : {}),
    ...(tls.ca === null ? {} : { ca: tls.ca }),
  })
  encrypted.on('error', () => undefined)
  await once(encrypted, 'secureConnect')
  return encrypted
}

async function once(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once(event, resolve)
    socket.once('error', reject)
    socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  })
}

async function firstBytes(socket: Socket): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    socket.once('data', (bytes: Buffer) => {
      socket.pause()
      resolve(bytes)
    })
    socket.once('error', reject)
    socket.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
  })
}

/** Marks our own connections, so that they never count as evidence. */
export const applicationName = 'testops-admin'

/** milliseconds that a writing transaction may wait between statements, while a journal is written */
const idleMs = 60_000

/** One row of an answer. Each value is as PostgreSQL writes it, or null for NULL. */
export type Row = Readonly<Record<string, string | null>>

/** One connection to one PostgreSQL server, on which one transaction runs at a time. */
export class DatabaseSession {
  #tail: Promise<unknown> = Promise.resolve()
  #broken: AdminError | null = null

  private constructor(
    private readonly client: Client,
    private readonly socket: Socket,
    readonly peer: Peer,
    readonly login: Login,
    private readonly timeoutMs: number,
  ) {
    client.on('error', (error: Error) => this.#break(databaseFailure(error, peer, login)))
    client.on('end', () =>
      this.#break(new AdminError('UNREACHABLE', `PostgreSQL at ${peer.where} closed the connection`, peer.suggestions)),
    )
  }

  static async open(
    endpoint: DatabaseEndpoint,
    at: HostPort,
    { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  ): Promise<DatabaseSession> {
    const login: Login = {
      user: endpoint.user ?? ownName(),
      database: endpoint.database,
      hasPassword: endpoint.password !== null,
    }
    const peer: Peer = {
      what: 'PostgreSQL',
      host: at.host,
      port: at.port,
      reach: endpoint.reach,
      where: `${hostPort(at.host, at.port)}/${endpoint.database}`,
      starttls: 'postgres',
      suggestions: [command`pg_isready -h ${at.host} -p ${at.port}`, psql(at, login, endpoint.database, 'SELECT 1')],
    }
    let socket: Socket | null = null
    const connecting = async (tls: DatabaseEndpoint['tls']): Promise<DatabaseSession> => {
      const [{ default: pg }, stream] = await Promise.all([
        import('pg'),
        openSocket(peer, tls, (opened) => (socket = opened)),
      ])
      socket = stream
      const client = new pg.Client({
        host: at.host,
        port: at.port,
        user: login.user,
        database: login.database,
        // a function, so that neither PGPASSWORD nor ~/.pgpass decide who we are
        password: (() => endpoint.password?.reveal()) as () => string,
        application_name: applicationName,
        ssl: false,
        stream: () => connected(stream),
        types: { getTypeParser: () => (value: string | Buffer) => String(value) },
      })
      client.on('error', () => undefined)
      await client.connect()
      return new DatabaseSession(client, stream, peer, login, timeoutMs)
    }
    const attempt = async (): Promise<DatabaseSession> => {
      try {
        return await connecting(endpoint.tls)
      } catch (error) {
        socket?.destroy()
        // as pgjdbc: a server that refuses us encrypted may accept us in plain text
        if (endpoint.tls.mode !== 'prefer' || sqlState(error) !== '28000') throw databaseFailure(error, peer, login)
      }
      try {
        return await connecting({ mode: 'disable', ca: null })
      } catch (error) {
        socket?.destroy()
        throw databaseFailure(error, peer, login)
      }
    }
    return withDeadline(attempt(), timeoutMs, peer, { abandon: () => socket?.destroy(), signal })
  }

  /**
   * Returns the rows of `sql`, read in a transaction that cannot write. Sends everything in one message, and sets
   * nothing outside the transaction. Thus a pooler (PgBouncer) neither refuses it nor passes our settings on to others.
   */
  async read(sql: string, options: { settings?: string } = {}): Promise<readonly Row[]> {
    const all = await this.readAll([sql], options)
    return all[0] ?? []
  }

  /** Reads as `read` does, but several statements in one transaction, with one round trip. */
  async readAll(
    statements: readonly string[],
    options: { settings?: string } = {},
  ): Promise<readonly (readonly Row[])[]> {
    const before = ['BEGIN READ ONLY', ...this.#limits(), ...(options.settings === undefined ? [] : [options.settings])]
    const results = await this.#inTurn([...before, ...statements, 'COMMIT'].join(';\n'))
    return results.slice(before.length, -1)
  }

  /**
   * Runs `work` in one transaction that writes. Each `run` returns the rows of its statement. An error from `work`
   * rolls the transaction back. Sets nothing outside it, as in `read`.
   */
  async change<T>(
    work: (run: (sql: string, values?: readonly unknown[]) => Promise<readonly Row[]>) => Promise<T>,
  ): Promise<T> {
    return this.#after(async () => {
      const begin = [
        'BEGIN',
        ...this.#limits(),
        // if this machine vanishes, the transaction's locks must not stay
        `SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`,
      ]
      await this.#send(begin.join(';\n'))
      let result: T
      try {
        result = await work(async (sql, values = []) => (await this.#send(sql, values))[0] ?? [])
      } catch (error) {
        if (this.#broken === null && sqlState(error) === null) await this.#rollBack()
        throw error
      }
      await this.#send('COMMIT')
      return result
    })
  }

  /**
   * Runs one SELECT that somebody else wrote, in a transaction that cannot write. A message with values holds one
   * statement only, so none can end that transaction and go on. Sets nothing outside it, as in `read`.
   */
  async select(sql: string, values: readonly [...unknown[], unknown]): Promise<readonly Row[]> {
    return this.#after(async () => {
      await this.#send(['BEGIN READ ONLY', ...this.#limits()].join(';\n'))
      const [rows = []] = await this.#send(sql, values)
      await this.#send('ROLLBACK')
      return rows
    })
  }

  /** The server's process id as the connection received it; a pooler (PgBouncer) makes one up. */
  get processId(): number {
    return (this.client as Client & { processID: number }).processID
  }

  /** Throws the reason why this connection cannot be used any more. */
  assertOpen(): void {
    if (this.#broken) throw this.#broken
  }

  async close(): Promise<void> {
    this.#break(new AdminError('UNREACHABLE', `the connection to PostgreSQL at ${this.peer.where} has been closed`))
    const ended = this.client.end().catch(() => undefined)
    await atMost(250, ended, undefined)
    this.socket.destroy()
  }

  /** Returns the limits of a transaction: shorter than our own, so that the server's more telling error comes first. */
  #limits(): string[] {
    const limitMs = Math.max(100, Math.floor(this.timeoutMs * 0.9))
    return [`SET LOCAL statement_timeout = ${limitMs}`, `SET LOCAL lock_timeout = ${Math.floor(limitMs / 2)}`]
  }

  #break(error: AdminError): void {
    this.#broken ??= error
  }

  async #inTurn(sql: string): Promise<readonly (readonly Row[])[]> {
    return this.#after(async () => this.#send(sql))
  }

  async #after<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#tail.then(work)
    this.#tail = turn.catch(() => undefined)
    return turn
  }

  /** Sends a statement. Without values, uses the simple protocol, which takes several statements at once. */
  async #send(sql: string, values?: readonly unknown[]): Promise<readonly (readonly Row[])[]> {
    this.assertOpen()
    const { peer, login } = this
    try {
      const sent = values === undefined ? this.client.query(sql) : this.client.query(sql, [...values])
      const answer: unknown = await withDeadline(sent, this.timeoutMs, peer)
      return (Array.isArray(answer) ? answer : [answer]).map((result: { rows: Row[] }) => result.rows)
    } catch (error) {
      if (sqlState(error) === null || !(await this.#rollBack())) {
        this.#break(databaseFailure(error, peer, login))
        this.socket.destroy()
      }
      throw sqlState(error) === null ? databaseFailure(error, peer, login) : error
    }
  }

  async #rollBack(): Promise<boolean> {
    return withDeadline(this.client.query('ROLLBACK'), this.timeoutMs, this.peer).then(
      () => true,
      () => false,
    )
  }
}

/** Adapts a connected socket for pg, which wants to connect it itself. */
function connected(socket: Socket): Socket {
  return Object.assign(socket, {
    connect(): Socket {
      process.nextTick(() => {
        socket.resume()
        socket.emit('connect')
      })
      return socket
    },
  })
}

/**
 * Returns the name of this process's user, as PostgreSQL's own programs do. Throws CONFIGURATION if this machine has no
 * name for it.
 */
function ownName(): string {
  try {
    return userInfo().username
  } catch {
    throw new AdminError(
      'CONFIGURATION',
      `the database URL names no user, and this machine has no name for user ID ${process.getuid?.() ?? '?'}: ` +
        'write postgresql://USER@HOST:5432/DATABASE',
    )
  }
}
