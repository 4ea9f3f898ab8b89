import type { IncomingMessage } from 'node:http'
import type { Cluster } from './cluster.ts'
import type { Resource } from './resources.ts'
import { apiVersionOf } from './resources.ts'
import { forbidden, unauthorized } from './status.ts'

/** What a request is about. */
export interface Asked {
  resource: Resource
  namespace: string | null
  name: string | null
  subresource: string | null
  verb: string
  query: URLSearchParams
  /** `User-Agent`, by which a writer is known that does not name itself */
  agent: string
}

/** Null where the address is none of a resource. */
export function askedBy({ method = 'GET', url = '/', headers }: IncomingMessage, cluster: Cluster): Asked | null {
  const { pathname, searchParams: query } = new URL(url, 'http://localhost')
  const resource = cluster.resources.find((it) => pathname === baseOf(it) || pathname.startsWith(`${baseOf(it)}/`))
  if (!resource) return null
  const rest = pathname.slice(baseOf(resource).length).split('/').slice(1).map(decodeURIComponent)
  const isScoped = rest[0] === 'namespaces' && rest.length > 2
  const namespace = isScoped ? (rest[1] ?? null) : null
  const [plural, name = null, subresource = null] = isScoped ? rest.slice(2) : rest
  const found = cluster.resources.find((it) => it.plural === plural && baseOf(it) === baseOf(resource))
  if (!found) return null
  return {
    resource: found,
    namespace,
    name,
    subresource,
    verb: verbOf(method, name, query),
    query,
    agent: headers['user-agent'] ?? '',
  }
}

/** Throws 401 for an unknown token, 403 for what is forbidden. Gives the user's name. */
export function authorize({ headers }: IncomingMessage, asked: Asked | null, cluster: Cluster): string {
  const user = cluster.users.get(/^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? '')
  if (user === undefined) throw unauthorized()
  if (asked)
    cluster.asked.add(
      `${asked.verb} ${asked.resource.plural}${asked.subresource === null ? '' : `/${asked.subresource}`}`,
    )
  if (asked && !isAllowed(asked, cluster)) throw forbidden(user, asked.verb, asked.resource, asked)
  return user
}

export function isAllowed(
  {
    verb,
    resource,
    subresource,
    namespace,
  }: { verb: string; resource: { plural: string }; subresource: string | null; namespace: string | null },
  cluster: Cluster,
): boolean {
  const plural = subresource === null ? resource.plural : `${resource.plural}/${subresource}`
  if (cluster.granted && !cluster.granted.has(`${verb} ${plural}`)) return false
  return !cluster.forbidden.some(
    (rule) =>
      (rule.verb ?? verb) === verb &&
      (rule.resource ?? plural) === plural &&
      (rule.namespace === undefined || rule.namespace === namespace),
  )
}

function baseOf(resource: Resource): string {
  return `/${resource.group === '' ? 'api' : 'apis'}/${apiVersionOf(resource)}`
}

function verbOf(method: string, name: string | null, query: URLSearchParams): string {
  switch (method) {
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === null ? 'deletecollection' : 'delete'
    default:
      return query.get('watch') === 'true' ? 'watch' : name === null ? 'list' : 'get'
  }
}
