import type { Resource } from './resources.ts'
import { apiVersionOf } from './resources.ts'

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']

/** What a server offers (`/api`, `/apis`, and each group below), by which kubectl learns what `pods` are; null: another address. */
export function discovered(path: string, resources: readonly Resource[]): object | null {
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groupsOf(resources) }
  const groupVersion = path.replace(/^\/apis?\//, '')
  const offered = resources.filter((it) => apiVersionOf(it) === groupVersion)
  if (offered.length === 0) return null
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion,
    resources: offered.map(({ plural, kind, isNamespaced }) => ({ name: plural, singularName: kind.toLowerCase(), namespaced: isNamespaced, kind, verbs })),
  }
}

function groupsOf(resources: readonly Resource[]): object[] {
  const groups = new Map(resources.filter(({ group }) => group !== '').map((it) => [it.group, it.version]))
  return [...groups].map(([name, version]) => {
    const offered = { groupVersion: `${name}/${version}`, version }
    return { name, versions: [offered], preferredVersion: offered }
  })
}
