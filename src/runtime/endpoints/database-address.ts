import type { HostPort, Tls } from '../../core/endpoint.ts'
import { decode, parseAddress } from './addresses.ts'

export interface DatabaseAddress {
  hosts: readonly HostPort[]
  database: string
  user: string | null
  password: string | null
  tlsMode: Tls['mode']
  /** PEM file that the address itself names (`sslrootcert`) */
  caFile: string | null
  schema: string | null
}

const defaultPorts = { postgresql: 5432, postgres: 5432 }
const local = [{ host: 'localhost', port: 5432 }] as const

/** Reads `postgresql://…` and pgjdbc's `jdbc:postgresql:…`, with several hosts and parameters (FIELD-NOTES.md 1.3). */
export function parseDatabaseAddress(address: string): DatabaseAddress {
  const plain = address.trim().replace(/^jdbc:/i, '')
  // pgjdbc's short forms: the server is on this machine
  const short = /^postgres(?:ql)?:(?:\/\/\/|\/)?([^/?]+)(\?.*)?$/i.exec(plain)
  const parsed = short
    ? { user: null, password: null, hosts: local, path: short[1] ?? '', query: new URLSearchParams(short[2] ?? '') }
    : parseAddress(plain, defaultPorts)
  const { query } = parsed
  const user = parsed.user ?? query.get('user')
  const database = decode(parsed.path.replace(/\/$/, '')) || user
  if (!database) throw new Error('names no database')
  return {
    hosts: parsed.hosts,
    database,
    user,
    password: parsed.password ?? query.get('password'),
    tlsMode: tlsMode(query),
    caFile: query.get('sslrootcert'),
    schema:
      query
        .get('currentSchema')
        ?.split(',')[0]
        ?.trim()
        .replace(/^"(.*)"$/, '$1') || null,
  }
}

/** Returns pgjdbc's mode: `prefer` by default, `ssl=true` alone is verify-full, NonValidatingFactory encrypts only. */
function tlsMode(query: URLSearchParams): Tls['mode'] {
  const mode = query.get('sslmode')?.toLowerCase() ?? impliedMode(query)
  if (mode === 'disable' || mode === 'require') return mode
  if (mode === 'prefer' || mode === 'allow') return 'prefer'
  if (mode !== 'verify-ca' && mode !== 'verify-full') throw new Error('has an sslmode that PostgreSQL does not know')
  return query.get('sslfactory')?.endsWith('NonValidatingFactory') ? 'require' : 'verify'
}

function impliedMode(query: URLSearchParams): string {
  return query.has('ssl') && query.get('ssl') !== 'false' ? 'verify-full' : 'prefer'
}
