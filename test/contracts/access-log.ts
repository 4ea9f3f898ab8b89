import { expect, test } from 'vitest'
import type { Opened } from '../../src/core/endpoint.ts'
import type { AccessLogSource } from '../../src/core/sources.ts'
import { failureOf } from '../adapters/failure-of.ts'
import { lookThrough } from './look.ts'

export interface AccessLogSituation {
  /** `METHOD path status`, oldest first; null: there is no such file */
  requests: readonly `${string} ${string} ${number}`[] | null
  /** lines of no known format, after all others */
  nonsense?: number
}

/** What every access log keeps. */
export function accessLogContract(open: (situation: AccessLogSituation) => Promise<Opened<AccessLogSource>>): void {
  const look = lookThrough(open)
  const shown = ({ requests }: Awaited<ReturnType<AccessLogSource['recent']>>): string[] =>
    requests.map(({ method, path, status }) => `${method} ${path} ${status}`)

  test('gives requests in the order of the file', async () => {
    const requests = ['GET /api/project 200', 'POST /api/uaa/oauth/token 401', 'GET / 502'] as const
    const part = await look({ requests }, async (source) => {
      expect(source.target).toMatch(/^\/\S+$/)
      return source.recent({ maxBytes: 100_000 })
    })
    expect({ ...part, requests: shown(part) }).toEqual({ complete: true, unread: 0, requests })
    expect(part.requests.every(({ at, client }) => at instanceof Date && client !== '')).toBe(true)
  })

  test('counts what it cannot read', async () => {
    const part = await look({ requests: ['GET / 200'], nonsense: 3 }, async (source) =>
      source.recent({ maxBytes: 100_000 }),
    )
    expect({ requests: shown(part), unread: part.unread }).toEqual({ requests: ['GET / 200'], unread: 3 })
  })

  test('of a long log, gives the newest part in whole lines', async () => {
    const requests = Array.from({ length: 1000 }, (_, index) => `GET /number/${index} 200` as const)
    const part = await look({ requests }, async (source) => source.recent({ maxBytes: 10_000 }))
    expect({ complete: part.complete, unread: part.unread }).toEqual({ complete: false, unread: 0 })
    expect(part.requests.length).toBeGreaterThan(20)
    expect(shown(part)).toEqual(requests.slice(-part.requests.length))
  })

  test('an empty log holds nothing', async () => {
    expect(await look({ requests: [] }, async (source) => source.recent({ maxBytes: 1000 }))).toEqual({
      complete: true,
      requests: [],
      unread: 0,
    })
  })

  test('a log that is not there', async () => {
    const { source, close } = await open({ requests: null })
    expect(await failureOf(source.recent({ maxBytes: 1000 }))).toMatch(/^UNAVAILABLE the log file \S+ does not exist$/)
    await close()
  })
}
