import type { Redis } from 'ioredis'
import type { SessionSample, SessionTimes } from '../../core/sources.ts'
import { literally } from '../../knowledge/sessions.ts'

/** The fields of a session that are read. All others hold user data (FIELD-NOTES.md 4). */
export const timeFields = ['creationTime', 'lastAccessedTime', 'maxInactiveInterval'] as const

/** Returns the times of one hash; null if it has none of the three fields and so is not a session. */
export function sessionTimes(fields: readonly (Buffer | null)[], ttlMs: number): SessionTimes | null {
  if (fields.every((field) => field === null)) return null
  const [creation, lastAccessed, maxInactive] = fields.map((field) => (field ? decodeNumber(field) : null))
  return {
    creationTime: creation ?? null,
    lastAccessedTime: lastAccessed ?? null,
    maxInactiveSeconds: maxInactive ?? null,
    ttlMs: ttlMs < 0 ? null : ttlMs,
  }
}

const magic = Buffer.from('aced00057372', 'hex')
const longClass = Buffer.from('\u0000\u000ejava.lang.Long', 'latin1')
const integerClass = Buffer.from('\u0000\u0011java.lang.Integer', 'latin1')

/** Decodes a number as Java's or a JSON serializer writes it; null if it is neither. */
export function decodeNumber(bytes: Buffer): number | null {
  if (!bytes.subarray(0, magic.length).equals(magic)) return decodeText(bytes)
  const name = bytes.subarray(magic.length)
  if (name.subarray(0, longClass.length).equals(longClass) && bytes.length === 82)
    return Number(bytes.readBigInt64BE(bytes.length - 8))
  if (name.subarray(0, integerClass.length).equals(integerClass) && bytes.length === 81)
    return bytes.readInt32BE(bytes.length - 4)
  return null
}

function decodeText(bytes: Buffer): number | null {
  if (bytes.length > 64) return null
  const digits = /^(?:\["java\.lang\.(?:Long|Integer)",)?"?(-?\d{1,18})"?\]?$/.exec(
    bytes.toString('latin1').trim(),
  )?.[1]
  return digits === undefined ? null : Number(digits)
}

/** keys per SCAN, and most SCANs per sample, to spare a store of foreign keys */
const keysPerRound = 1000
const maxRounds = 200

interface Found {
  sessions: SessionTimes[]
  indexed: boolean
}

/**
 * Reads the times of at most `limit` sessions of those servers (several in a cluster), found by the shape of the keys
 * (FIELD-NOTES.md 4). Ends after `maxRounds` or `budgetMs`, whichever is first. Ids are never kept.
 */
export async function sampleSessions(
  servers: readonly Redis[],
  { namespace, limit, budgetMs }: { namespace: string | null; limit: number; budgetMs: number },
): Promise<SessionSample> {
  const namespaces = new Map<string, Found>()
  const pattern = `${namespace === null ? '*' : literally(namespace)}:sessions:*`
  const endsAt = performance.now() + budgetMs
  let complete = true
  let rounds = 0
  let looked = 0
  for (const server of servers) {
    let cursor = '0'
    do {
      if (looked >= limit || rounds >= maxRounds || performance.now() > endsAt) {
        complete = false
        break
      }
      const [next, keys] = await server.scan(cursor, 'MATCH', pattern, 'COUNT', keysPerRound)
      cursor = next
      rounds += 1
      const candidates = [...new Set(keys)].flatMap((key) => candidate(key, namespace, namespaces))
      const wanted = candidates.slice(0, limit - looked)
      if (wanted.length < candidates.length) complete = false
      looked += await read(server, wanted, namespaces)
    } while (cursor !== '0')
  }
  return { ...chosen(namespaces), complete }
}

interface Candidate {
  key: string
  namespace: string
}

/** Returns the key if it may be a session. Notes the mark of an indexed repository. */
function candidate(key: string, wanted: string | null, namespaces: Map<string, Found>): Candidate[] {
  const [, namespace, rest] = /^(.+?):sessions:(.+)$/s.exec(key) ?? []
  if (namespace === undefined || rest === undefined || (wanted !== null && namespace !== wanted)) return []
  if (rest.startsWith('expires:') || rest === 'expirations') {
    found(namespaces, namespace).indexed = true
    return []
  }
  return [{ key, namespace }]
}

async function read(server: Redis, candidates: readonly Candidate[], namespaces: Map<string, Found>): Promise<number> {
  if (candidates.length === 0) return 0
  const pipeline = server.pipeline()
  for (const { key } of candidates) {
    pipeline.hmgetBuffer(key, ...timeFields)
    pipeline.pttl(key)
  }
  const answers = (await pipeline.exec()) ?? []
  let sessions = 0
  candidates.forEach(({ namespace }, index) => {
    const [wrongType, fields] = answers[2 * index] ?? []
    const [, ttlMs] = answers[2 * index + 1] ?? []
    if (isRefused(wrongType)) throw wrongType
    if (!Array.isArray(fields) || typeof ttlMs !== 'number') return
    const times = sessionTimes(fields as (Buffer | null)[], ttlMs)
    if (times === null) return
    found(namespaces, namespace).sessions.push(times)
    sessions += 1
  })
  return sessions
}

/** True for an error that is a reason to stop. A key of another type is none: it is only not a session. */
function isRefused(error: Error | null | undefined): error is Error {
  return error !== null && error !== undefined && !error.message.startsWith('WRONGTYPE')
}

function found(namespaces: Map<string, Found>, namespace: string): Found {
  const known = namespaces.get(namespace)
  if (known) return known
  const fresh = { sessions: [], indexed: false }
  namespaces.set(namespace, fresh)
  return fresh
}

function chosen(namespaces: ReadonlyMap<string, Found>): Omit<SessionSample, 'complete'> {
  const [most] = [...namespaces].sort(([, a], [, b]) => b.sessions.length - a.sessions.length)
  if (!most || most[1].sessions.length === 0) return { namespace: null, indexed: false, sessions: [] }
  return { namespace: most[0], indexed: most[1].indexed, sessions: most[1].sessions }
}
