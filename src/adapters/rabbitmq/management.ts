import { setTimeout as pause } from 'node:timers/promises'
import type { BrokerEndpoint } from '../../core/endpoint.ts'
import { AdminError } from '../../core/error.ts'
import { typedOn } from '../../core/host.ts'
import { sharedAnswers } from '../../core/answers.ts'
import { reasonOf } from '../answer-reason.ts'
import { isRecord, jsonOf, openHttp } from '../http.ts'
import type { HttpAnswer, HttpClient } from '../http.ts'
import { command } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

export type Item = Readonly<Record<string, unknown>>

/** The part of RabbitMQ's management API that is read. */
export interface Management {
  /** Returns all objects of a list that comes in pages */
  pages(path: string, columns: readonly string[], tag: Tag): Promise<readonly Item[]>
  /** Returns a list that comes whole */
  list(path: string, tag: Tag): Promise<readonly Item[]>
  /** Returns a list that not every broker has; null if this one lacks it */
  listIfAny(path: string, tag: Tag): Promise<readonly Item[] | null>
  /** Lists alarms in effect, each with its `node` and `resource`; shown at once, while figures lag by some seconds */
  alarms(): Promise<readonly Item[]>
  /** Returns the user's tags. Throws FORBIDDEN, naming `tag`, if the broker does not show them */
  tags(tag: Tag): Promise<readonly string[]>
  /** Throws FORBIDDEN if the user has none of these tags; the first is the least of them */
  requireTag(tags: readonly [Tag, ...string[]]): Promise<void>
  close(): Promise<void>
}

/** A tag that a user needs to see something. */
type Tag = 'management' | 'monitoring'

/** old versions answer 406 instead of 404 if only JSON is accepted */
const accept = 'application/json, */*;q=0.1'
/** RabbitMQ's text in answers with 400 [L: 3.10.8] */
const withoutFigures = /Stats in management UI are disabled/
/** Pause before the second try of a read that failed inside the broker; a busy node may fail once without a word */
const pauseMs = 300
const pageSize = 500
const maxPages = 200

/**
 * Returns access to the management API. Opens nothing yet. Methods throw UNAVAILABLE if the plugin is missing,
 * FORBIDDEN if the user lacks the tag.
 */
export function managementApi(endpoint: BrokerEndpoint, timeoutMs: number): Management {
  const answers = sharedAnswers({ keep: 'nothing' })
  let client: Promise<HttpClient> | null = null

  const opened = async (): Promise<HttpClient> => {
    if (endpoint.managementUrl === null) {
      throw new AdminError(
        'UNAVAILABLE',
        `no address is known for the management API of RabbitMQ at ${endpoint.host}:${endpoint.port}`,
        howToEnable(endpoint),
      )
    }
    const { user, managementUrl, tls, reach } = endpoint
    return openHttp({
      what: `RabbitMQ's management API`,
      baseUrl: managementUrl,
      suggestions: [command`curl -u ${user} ${`${managementUrl}/api/overview`}   # asks for the password`],
      ca: tls.ca,
      verify: tls.mode !== 'require',
      timeoutMs,
      // leaves time to ask `rabbitmqctl` instead
      connectMs: timeoutMs * 0.4,
      maxBytes: 50_000_000,
      reach,
    })
  }

  const send = async (path: string): Promise<HttpAnswer> => {
    client ??= opened()
    const { peer, request } = await client
    const credentials = Buffer.from(`${endpoint.user}:${endpoint.password?.reveal() ?? ''}`).toString('base64')
    try {
      return await request(path, { headers: { authorization: `Basic ${credentials}`, accept } })
    } catch (error) {
      if (!(error instanceof AdminError)) throw error
      // without the path, so that all callers get the same message
      const message = error.message.replace(`${peer.where}${path.split('?')[0]}`, peer.where)
      // for a proxy, a certificate, an unresolved name or a missing route, the reason says more than that the plugin
      // may be off
      const isToldApart = error.obstacle !== null && error.obstacle.kind !== 'refused'
      if (error.code !== 'UNREACHABLE' || isToldApart || message.includes('cannot be reached'))
        throw new AdminError(error.code, message, error.suggestions, { cause: error })
      throw new AdminError(
        'UNAVAILABLE',
        `RabbitMQ's management API at ${peer.where} is not reachable`,
        howToEnable(endpoint),
        {
          cause: error,
        },
      )
    }
  }

  const sendAgain = async (path: string): Promise<HttpAnswer> => {
    const answer = await send(path)
    if (answer.status !== 500) return answer
    await pause(pauseMs)
    return send(path)
  }

  const get = async (path: string): Promise<HttpAnswer> => answers.to(path, async () => sendAgain(path))

  const valueOf = (answer: HttpAnswer, tag: Tag): unknown => {
    const value = jsonOf(answer)
    if (answer.status === 200 && value !== undefined) return value
    throw refusal(answer, endpoint, tag)
  }

  const tagsFor = async (tag: Tag): Promise<readonly string[]> => {
    const own = valueOf(await get('/api/whoami'), tag)
    return isRecord(own) ? words(own['tags']) : []
  }

  const itemsOf = (answer: HttpAnswer, path: string, tag: Tag): readonly Item[] => {
    const value = valueOf(answer, tag)
    if (!Array.isArray(value)) throw strange(endpoint, path)
    return value.filter(isRecord)
  }

  return {
    async pages(path, columns, tag) {
      const items: Item[] = []
      for (let page = 1; page <= maxPages; page += 1) {
        const value = valueOf(await get(`${path}?page=${page}&page_size=${pageSize}&columns=${columns.join(',')}`), tag)
        if (Array.isArray(value)) return value.filter(isRecord)
        if (!isRecord(value) || !Array.isArray(value['items'])) throw strange(endpoint, path)
        items.push(...value['items'].filter(isRecord))
        if (page >= Number(value['page_count'] ?? 1)) return items
      }
      return items
    },
    list: async (path, tag) => itemsOf(await get(path), path, tag),
    async listIfAny(path, tag) {
      const answer = await get(path)
      return answer.status === 404 ? null : itemsOf(answer, path, tag)
    },
    async alarms() {
      const path = '/api/health/checks/alarms'
      const answer = await get(path)
      const value = jsonOf(answer)
      if (answer.status === 200) return []
      if (answer.status === 503 && isRecord(value) && Array.isArray(value['alarms']))
        return value['alarms'].filter(isRecord)
      throw refusal(answer, endpoint, 'management')
    },
    tags: tagsFor,
    async requireTag(tags) {
      const own = await tagsFor(tags[0])
      if (!own.some((word) => tags.some((tag) => tag === word))) throw lacking(endpoint, tags[0], '')
    },
    async close() {
      await client?.then(
        async (open) => open.close(),
        () => undefined,
      )
    },
  }
}

function howToEnable({ host }: BrokerEndpoint): Suggestion[] {
  return [
    typedOn(host, 'rabbitmq-plugins enable rabbitmq_management'),
    'or set `broker.managementUrl` in the configuration',
  ]
}

function refusal(answer: HttpAnswer, endpoint: BrokerEndpoint, tag: Tag): AdminError {
  const where = `RabbitMQ's management API at ${endpoint.managementUrl}`
  if (answer.status === 401 || answer.status === 403)
    return isOfBroker(answer) ? refused(answer, endpoint, tag) : refusedBefore(answer, endpoint)
  if (withoutFigures.test(answer.text)) {
    return new AdminError(
      'UNAVAILABLE',
      `${where} lists nothing: the broker's metrics collector is off (management_agent.disable_metrics_collector)`,
      [
        'set `broker.rabbitmqctl` in the configuration: testops-admin then lists queues and connections with ' +
          '`rabbitmqctl`',
        typedOn(endpoint.host, 'rabbitmqctl environment | grep disable_metrics_collector'),
      ],
    )
  }
  const look = command`curl -i -u ${endpoint.user} ${`${endpoint.managementUrl}/api/overview`}   # asks for the
    password`
  if (answer.status >= 500) {
    return new AdminError('UNEXPECTED_ANSWER', `${where} failed (${reasonOf(answer)})`, [
      typedOn(endpoint.host, 'rabbitmq-diagnostics log_tail'),
      look,
    ])
  }
  return new AdminError('UNEXPECTED_ANSWER', `${where} answers ${reasonOf(answer)}: check \`broker.managementUrl\``, [
    look,
  ])
}

/** True if RabbitMQ itself refuses, in JSON and its own words. A proxy answers with a page, or with nothing. */
function isOfBroker(answer: HttpAnswer): boolean {
  const value = jsonOf(answer)
  return isRecord(value) && typeof value['error'] === 'string' && /^not_authori[sz]ed$/i.test(value['error'])
}

function refused(answer: HttpAnswer, endpoint: BrokerEndpoint, tag: Tag): AdminError {
  const { managementUrl, user, host } = endpoint
  const { reason } = jsonOf(answer) as { reason?: unknown }
  if (typeof reason === 'string' && /only log in via localhost/i.test(reason)) {
    return new AdminError(
      'FORBIDDEN',
      `RabbitMQ's management API at ${managementUrl} accepts user ${user} only from the broker's own host ` +
        `(HTTP ${answer.status})`,
      [
        'set `broker.user` in the configuration to another user with the tag `monitoring`',
        typedOn(host, 'rabbitmqctl environment | grep loopback_users'),
      ],
    )
  }
  // the same user and password were accepted by the broker itself, so what is missing is the tag
  return lacking(endpoint, tag, ` (HTTP ${answer.status})`)
}

/** Returns the error for a refusal from in front of the broker, which has accepted this user and password. */
function refusedBefore(answer: HttpAnswer, { managementUrl, user }: BrokerEndpoint): AdminError {
  return new AdminError(
    'FORBIDDEN',
    `a proxy in front of RabbitMQ's management API at ${managementUrl} rejects the request: ` +
      `${reasonOf(answer)}. RabbitMQ itself accepts user ${user}`,
    [
      'set `broker.managementUrl` in the configuration to the address of RabbitMQ itself, or let the proxy ' +
        'pass the request',
      command`curl -i -u ${user} ${`${managementUrl}/api/overview`}   # asks for the password`,
    ],
  )
}

function lacking({ managementUrl, user, host }: BrokerEndpoint, tag: Tag, answered: string): AdminError {
  return new AdminError(
    'FORBIDDEN',
    `RabbitMQ's management API at ${managementUrl} does not accept user ${user}: the user lacks the tag ` +
      `'${tag}'${answered}`,
    [command`rabbitmqctl list_users`, command`rabbitmqctl set_user_tags ${user} monitoring`].map((it) =>
      typedOn(host, it),
    ),
  )
}

function strange(endpoint: BrokerEndpoint, path: string): AdminError {
  return new AdminError(
    'UNEXPECTED_ANSWER',
    `${endpoint.managementUrl}${path} returned an unexpected answer. Maybe it is not RabbitMQ's management API`,
    [command`curl -u ${endpoint.user} ${`${endpoint.managementUrl}${path}`}   # asks for the password`],
  )
}

/** Returns tags, which are a list since 3.9, and words with commas before. */
function words(tags: unknown): string[] {
  const all: unknown[] = Array.isArray(tags) ? tags : typeof tags === 'string' ? tags.split(',') : []
  return all.filter((word) => typeof word === 'string')
}
