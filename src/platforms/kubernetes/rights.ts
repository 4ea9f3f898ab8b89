import type { ActionKind } from '../../core/action.ts'
import type { SourceName } from '../../core/sources.ts'
import { groupOf } from './objects.ts'
import type { ResourceName } from './objects.ts'

/** What a cluster has to allow, as a rule of a Role names it. */
interface Right {
  /** `deployments/scale` */
  resource: ResourceName | `${ResourceName}/${string}`
  verbs: readonly string[]
  /** True if it lies in no namespace of the service's */
  isElsewhere?: true
}

/** Rights to find the workload by its image, and to read its settings where they are kept. */
const finding: readonly Right[] = [
  { resource: 'deployments', verbs: ['get', 'list'] },
  { resource: 'statefulsets', verbs: ['get', 'list'] },
  { resource: 'pods', verbs: ['list'] },
  { resource: 'configmaps', verbs: ['get'] },
  { resource: 'secrets', verbs: ['get'] },
]

/** Rights to reach a server in the cluster through a pod of its Service. */
const reaching: readonly Right[] = [
  ...finding,
  { resource: 'services', verbs: ['get'] },
  { resource: 'endpoints', verbs: ['get'] },
  { resource: 'pods/portforward', verbs: ['create', 'get'] },
]

/** Rights to see what may start a stopped service again; what is missing, or may not be seen, counts as at work. */
const watching: readonly Right[] = [
  { resource: 'horizontalpodautoscalers', verbs: ['list'] },
  { resource: 'scaledobjects', verbs: ['list'] },
  { resource: 'kustomizations', verbs: ['get'] },
  { resource: 'helmreleases', verbs: ['get'] },
  { resource: 'applications', verbs: ['list'], isElsewhere: true },
]

const looking: readonly Right[] = [
  ...finding,
  { resource: 'events', verbs: ['list'] },
  // what a container said before it ended
  { resource: 'pods/log', verbs: ['get'] },
  // what owns pods that are not the workload's own, and what the workload was before
  { resource: 'replicasets', verbs: ['get', 'list'] },
  { resource: 'controllerrevisions', verbs: ['list'] },
  // what an Ingress in front of it lets through
  { resource: 'ingresses', verbs: ['list'] },
  { resource: 'services', verbs: ['get'] },
  // who repairs the deployment
  { resource: 'leases', verbs: ['get'] },
  { resource: 'nodes', verbs: ['list'], isElsewhere: true },
]

/** Rights that each source needs. */
const toRead: { readonly [K in SourceName]: readonly Right[] } = {
  database: reaching,
  broker: reaching,
  sessions: reaching,
  api: reaching,
  service: looking,
  logs: [...finding, { resource: 'pods/log', verbs: ['get'] }],
  accessLog: [],
  files: [],
  // helm asks by itself, with the rights of the user who installs the chart
  release: finding,
  network: [],
  // journals of repairs that the broker could not take
  runs: [...finding, { resource: 'configmaps', verbs: ['list'] }],
}

const patching: readonly Right[] = [
  ...finding,
  { resource: 'deployments', verbs: ['patch'] },
  { resource: 'statefulsets', verbs: ['patch'] },
]

const scaling: readonly Right[] = [
  ...patching,
  ...watching,
  { resource: 'deployments/scale', verbs: ['patch'] },
  { resource: 'statefulsets/scale', verbs: ['patch'] },
  // a pod that is Terminating on a lost node may still run
  { resource: 'pods', verbs: ['get'] },
  { resource: 'nodes', verbs: ['get'], isElsewhere: true },
]

/** Rights that each kind of change needs, beside those to read. */
const toChange: { readonly [K in ActionKind]: readonly Right[] } = {
  'stop-service': scaling,
  'start-service': scaling,
  'set-setting': patching,
  'set-secret': patching,
  'edit-values': [],
  'upgrade-release': finding,
  'fetch-image': [],
  'await-rollout': looking,
  'release-lock': reaching,
  'insert-lock-row': reaching,
  'remove-lock-rows': reaching,
  'remove-sessions': reaching,
  'hold-queues': reaching,
  'keep-queues': reaching,
  'drain-queues': reaching,
  'await-quiet': reaching,
  'move-messages': reaching,
  'delete-queues': reaching,
  'switch-exchanges': reaching,
  'redeclare-queues': reaching,
  'delete-held': reaching,
  'migrate-trees': reaching,
  'await-migration': reaching,
}

/**
 * Rights for what is done only on request: programs run in pods, and short-lived pods made where none can serve
 * (`--relay`, `check-cpu --prove`); names asked of the service's own resolver.
 */
const asked: readonly Right[] = [
  ...finding,
  { resource: 'pods/exec', verbs: ['create', 'get'] },
  { resource: 'pods', verbs: ['get', 'create', 'delete'] },
  { resource: 'pods/log', verbs: ['get'] },
  { resource: 'nodes', verbs: ['list'], isElsewhere: true },
]

/** Rights to keep a second operator out. */
const locking: readonly Right[] = [{ resource: 'leases', verbs: ['get', 'create', 'update'] }]

/** Rights to keep what a repair has done beyond the operator's machine, also if the broker cannot take it. */
const keeping: readonly Right[] = [{ resource: 'configmaps', verbs: ['get', 'list', 'create', 'patch', 'delete'] }]

/** Returns the least rights that these sources need. */
export function rightsToRead(sources: Iterable<SourceName>): Right[] {
  return merged([...sources].flatMap((source) => toRead[source]))
}

/** Returns the least rights that repairs need: to read these sources, and for every kind of change. */
export function rightsToRepair(sources: Iterable<SourceName>): Right[] {
  return merged([...rightsToRead(sources), ...Object.values(toChange).flat(), ...locking, ...keeping])
}

/** Returns the least rights for what is done only on request. */
export function rightsOnRequest(): Right[] {
  return merged(asked)
}

function merged(rights: readonly Right[]): Right[] {
  const byResource = new Map<string, Right>()
  for (const right of rights) {
    const known = byResource.get(right.resource)
    byResource.set(right.resource, { ...right, verbs: [...new Set([...(known?.verbs ?? []), ...right.verbs])] })
  }
  return [...byResource.values()]
}

/** Writes a Role with these rights, a ClusterRole for those elsewhere, and what binds both to a service account. */
export function roleText(name: string, about: readonly string[], rights: readonly Right[]): string {
  const here = rights.filter(({ isElsewhere }) => isElsewhere !== true)
  const elsewhere = rights.filter(({ isElsewhere }) => isElsewhere === true)
  const comment = about.map((line) => `# ${line}`).join('\n')
  const account = ['apiVersion: v1', 'kind: ServiceAccount', 'metadata:', `  name: ${name}`]
  return [
    `${comment}\n${account.join('\n')}`,
    objectText('Role', name, here),
    bindingText('RoleBinding', 'Role', name),
    '# Without the next two objects, testops-admin reports nodes and other namespaces as ' +
      `unknown.\n${objectText('ClusterRole', name, elsewhere)}`,
    bindingText('ClusterRoleBinding', 'ClusterRole', name, '    namespace: NAMESPACE   # of the service account\n'),
  ].join('\n---\n')
}

function objectText(kind: string, name: string, rights: readonly Right[]): string {
  const rules = rights.map(
    ({ resource, verbs }) =>
      `  - {apiGroups: ["${groupOf(resource.split('/')[0] as ResourceName)}"], resources: [${resource}], ` +
      `verbs: [${verbs.join(', ')}]}`,
  )
  return [
    `apiVersion: rbac.authorization.k8s.io/v1`,
    `kind: ${kind}`,
    'metadata:',
    `  name: ${name}`,
    'rules:',
    ...rules,
  ].join('\n')
}

function bindingText(kind: string, role: string, name: string, namespace = ''): string {
  return `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
metadata:
  name: ${name}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ${role}, name: ${name}}
subjects:
  - kind: ServiceAccount
    name: ${name}
${namespace}`.trimEnd()
}
