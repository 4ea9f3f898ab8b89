import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export const apiToken = 'the-api-token'

export interface ServiceOptions {
  health?: 'UP' | 'DOWN'
  tokenLifeSeconds?: number
  /** the claims differ from what the answer says */
  claims?: Readonly<Record<string, unknown>>
  expiresIn?: number | null
  migrationJobs?: readonly { id: number; status: string }[] | null
  /** null: a service without those lists; two trees in project 1 unless told otherwise */
  projects?: readonly PracticeProject[] | null
  /** whether the API token's user may migrate trees */
  mayMigrate?: boolean
  /** answers in place of the service, by path; undefined leaves the answer to the service */
  instead?: (request: IncomingMessage, response: ServerResponse, body: string) => boolean
  basePath?: string
  server?: (listener: (request: IncomingMessage, response: ServerResponse) => void) => Server
}

interface PracticeProject {
  id: number
  name: string
  trees: readonly { id: number; name: string }[]
}

const practiceProjects: readonly PracticeProject[] = [
  {
    id: 1,
    name: 'Web shop',
    trees: [
      { id: 1, name: 'Features' },
      { id: 2, name: 'Suites' },
    ],
  },
]

interface ReceivedRequest {
  method: string
  path: string
  headers: IncomingMessage['headers']
  body: string
}

export interface PracticeApi {
  url: string
  port: number
  received: ReceivedRequest[]
  /** trees whose migration has begun: '1/2' */
  migrated: string[]
}

/**
 * The parts of the service that the adapter talks to, as SPEC.md 4 and FIELD-NOTES.md 7 show them; lives until the test
 * ends.
 */
export async function service(options: ServiceOptions = {}): Promise<PracticeApi> {
  const {
    health = 'UP',
    tokenLifeSeconds = 3600,
    migrationJobs = [],
    projects = practiceProjects,
    mayMigrate = true,
    basePath = '',
  } = options
  const received: ReceivedRequest[] = []
  const migrated: string[] = []
  let issued = 0

  const answer = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const path = request.url?.split('?')[0] ?? ''
    received.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
    if (options.instead?.(request, response, body)) return
    const send = (status: number, value?: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(value === undefined ? '' : JSON.stringify(value))
    }
    const bearer = request.headers.authorization === `Bearer ${tokenAt(issued, options)}`
    switch (`${request.method} ${path}`) {
      case `GET ${basePath}/api/management/health`:
        return send(health === 'UP' ? 200 : 503, { status: health })
      case `POST ${basePath}/api/uaa/oauth/token`: {
        if (request.headers['expect'] !== undefined) return send(417)
        if (!isExchange(request, body))
          return send(401, { error: 'invalid_grant', error_description: 'Bad credentials' })
        issued = Math.floor(Date.now() / 1000)
        const expiresIn = options.expiresIn === undefined ? tokenLifeSeconds - 1 : options.expiresIn
        return send(200, {
          access_token: tokenAt(issued, options),
          token_type: 'bearer',
          ...(expiresIn === null ? {} : { expires_in: expiresIn }),
        })
      }
      case `GET ${basePath}/api/uaa/me`:
        return bearer
          ? send(200, { id: 1, username: 'admin', roles: ['ROLE_ADMIN'] })
          : send(401, { message: 'Full authentication is required' })
      case `GET ${basePath}/api/migration/job`:
        if (migrationJobs === null) return send(404, { status: 404, error: 'Not Found' })
        return bearer
          ? send(200, jobPage(migrationJobs, new URL(request.url ?? '', 'http://service').searchParams))
          : send(401)
      case `GET ${basePath}/api/project`:
      case `GET ${basePath}/api/tree`: {
        if (projects === null) break
        if (!bearer) return send(401)
        const query = new URL(request.url ?? '', 'http://service').searchParams
        const id = Number(query.get('projectId'))
        const rows = path.endsWith('/tree') ? projects.find((project) => project.id === id)?.trees : projects
        if (!rows) return send(404, { status: 404, error: 'Not Found', message: `Project ${id} not found` })
        return send(
          200,
          pageOf(
            rows.map(({ id: of, name }) => ({ id: of, name })),
            query,
          ),
        )
      }
    }
    const [, project = '', tree = null] =
      /\/api\/project\/(\d+)\/test-case\/tree\/(?:(\d+)\/)?migration$/.exec(path) ?? []
    if (request.method === 'POST' && project !== '') {
      if (!bearer) return send(401, { message: 'Full authentication is required' })
      if (!mayMigrate) return send(403, { status: 403, error: 'Forbidden', message: 'Access is denied' })
      const found = (projects ?? practiceProjects).find(({ id }) => id === Number(project))
      if (!found) return send(404, { status: 404, error: 'Not Found', message: `Project ${project} not found` })
      const trees = found.trees.filter(({ id }) => tree === null || id === Number(tree))
      if (trees.length === 0) return send(404, { status: 404, error: 'Not Found', message: `Tree ${tree} not found` })
      migrated.push(...trees.map(({ id }) => `${project}/${id}`))
      return send(202)
    }
    return send(404, { status: 404, error: 'Not Found', path })
  }

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString('utf8')))
  }
  const server = options.server?.(listener) ?? createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}${basePath}`, port, received, migrated }
}

/** Newest first, in pages of 100 at most. */
function jobPage(all: readonly { id: number; status: string }[], query: URLSearchParams): unknown {
  const status = query.get('status')
  const rows = all.filter((it) => status === null || it.status === status)
  const size = Math.min(100, Number(query.get('size') ?? 100))
  const number = Number(query.get('page') ?? 0)
  const content = rows.toSorted((a, b) => b.id - a.id).slice(number * size, (number + 1) * size)
  return {
    content: content.map(job),
    totalElements: rows.length,
    number,
    size,
    last: (number + 1) * size >= rows.length,
  }
}

/** Spring's page (FIELD-NOTES.md 7). */
function pageOf<T extends { id: number }>(rows: readonly T[], query: URLSearchParams): unknown {
  const number = Number(query.get('page') ?? 0)
  const size = Number(query.get('size') ?? 10)
  const content = rows.toSorted((a, b) => a.id - b.id).slice(number * size, (number + 1) * size)
  const totalPages = Math.ceil(rows.length / size)
  return { content, totalElements: rows.length, totalPages, number, size, last: number >= totalPages - 1 }
}

function isExchange(request: IncomingMessage, body: string): boolean {
  const boundary = /^multipart\/form-data; boundary="?([^"]+)"?$/.exec(request.headers['content-type'] ?? '')?.[1]
  if (boundary === undefined || request.headers.accept !== 'application/json') return false
  const fields = new Map(
    body
      .split(`--${boundary}`)
      .map((part) => /name="(\w+)"\r\n\r\n([^\r]*)\r\n$/.exec(part))
      .flatMap((part) => (part?.[1] === undefined ? [] : [[part[1], part[2]] as const])),
  )
  return fields.get('grant_type') === 'apitoken' && fields.get('scope') === 'openid' && fields.get('token') === apiToken
}

function tokenAt(issuedAt: number, { tokenLifeSeconds = 3600, claims }: ServiceOptions): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return [
    part({ alg: 'RS256' }),
    part(claims ?? { iat: issuedAt, exp: issuedAt + tokenLifeSeconds, user_name: 'admin' }),
    'c2lnbmF0dXJl',
  ].join('.')
}

function job({ id, status }: { id: number; status: string }): unknown {
  return { id, name: 'tree', status, createdDate: 1_700_000_000_000 + id, lastModifiedDate: '2026-11-21T02:12:44Z' }
}
