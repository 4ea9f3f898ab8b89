import type { Resource } from './resources.ts'
import { apiVersionOf } from './resources.ts'

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']

/**
 * What a server offers (`/api`, `/apis`, and each group below), by which kubectl learns what `pods` are; null: another
 * address.
 */
export function discovered(path: string, resources: readonly Resource[]): object | null {
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
  if (path === '/openapi/v3')
    return {
      paths: Object.fromEntries(
        [...new Set(resources.map(baseOf))].map((base) => [base, { serverRelativeURL: `/openapi/v3/${base}` }]),
      ),
    }
  if (path.startsWith('/openapi/v3/')) return described(resources.filter((it) => path === `/openapi/v3/${baseOf(it)}`))
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(resources) }
  const groupVersion = path.replace(/^\/apis?\//, '')
  const offered = resources.filter((it) => apiVersionOf(it) === groupVersion)
  if (offered.length === 0) return null
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: offered.map(({ plural, kind, isNamespaced }) => ({
      name: plural,
      singularName: kind.toLowerCase(),
      namespaced: isNamespaced,
      kind,
      verbs,
    })),
  }
}

function groupsOf(resources: readonly Resource[]): object[] {
  const groups = new Map(resources.filter(({ group }) => group !== '').map((it) => [it.group, it.version]))
  return [...groups].map(([name, version]) => {
    const offered = { groupVersion: `${name}/${version}`, version }
    return { name, versions: [offered], preferredVersion: offered }
  })
}

/**
 * What helm and kubectl look for there: whether the server itself judges the fields of a kind, so that they need not
 * (KEP-2885).
 */
function described(resources: readonly Resource[]): object {
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }))
  const paths = resources.map((it): [string, object] => {
    const { plural, kind, group, version, isNamespaced } = it
    const path = `/${baseOf(it)}/${isNamespaced ? 'namespaces/{namespace}/' : ''}${plural}/{name}`
    return [path, { patch: { parameters, responses: {}, 'x-kubernetes-group-version-kind': { group, version, kind } } }]
  })
  return { openapi: '3.0.0', info: { title: 'Kubernetes', version: 'v1.36' }, paths: Object.fromEntries(paths) }
}

function baseOf(resource: Resource): string {
  return `${resource.group === '' ? 'api' : 'apis'}/${apiVersionOf(resource)}`
}
