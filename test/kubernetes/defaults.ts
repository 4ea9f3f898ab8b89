import { isFree, isMembers } from './fields.ts'
import type { Names } from './fields.ts'
import type { Resource, Stored } from './resources.ts'

type Members = Readonly<Record<string, unknown>>

/**
 * What the API server sets where nobody does (Kubernetes API reference, the kinds' own defaults); other kinds stay as
 * they are.
 */
export function defaulted({ plural }: Resource, object: Stored): Stored {
  const spec = object['spec']
  if (plural === 'secrets') return { ...object, type: object['type'] ?? 'Opaque' }
  if (!isMembers(spec) || !isMembers(spec['template'])) return object
  const { template } = spec
  const own =
    plural === 'deployments' ? deploymentDefaults(spec) : plural === 'statefulsets' ? statefulSetDefaults : null
  return own === null ? object : { ...object, spec: { ...over(own, spec), template: withPodDefaults(template) } }
}

function deploymentDefaults({ strategy }: Members): Members {
  const rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%' }
  const isRecreate = isMembers(strategy) && strategy['type'] === 'Recreate'
  return {
    replicas: 1,
    strategy: { type: 'RollingUpdate', ...(!isRecreate && { rollingUpdate }) },
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  }
}

const statefulSetDefaults: Members = {
  replicas: 1,
  podManagementPolicy: 'OrderedReady',
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
  revisionHistoryLimit: 10,
  persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
}
const podDefaults: Members = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
}
const containerDefaults: Members = {
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
}

function withPodDefaults(template: Members): Members {
  const spec = isMembers(template['spec']) ? template['spec'] : {}
  const lists = ['containers', 'initContainers']
    .filter((name) => Array.isArray(spec[name]))
    .map((name) => [name, (spec[name] as Members[]).map(withContainerDefaults)])
  const { volumes } = spec
  return {
    ...template,
    spec: {
      ...over(podDefaults, spec),
      ...(Array.isArray(volumes) && { volumes: (volumes as Members[]).map(withSource) }),
      ...Object.fromEntries(lists),
    },
  }
}

function withSource(volume: Members): Members {
  if (Object.keys(volume).length === 1) return { ...volume, emptyDir: {} }
  const sources = ['secret', 'configMap']
    .filter((name) => isMembers(volume[name]))
    .map((name): [string, Members] => [name, { defaultMode: 0o644, ...(volume[name] as Members) }])
  return { ...volume, ...Object.fromEntries(sources) }
}

function withContainerDefaults(container: Members): Members {
  const { image = '', ports, env } = container
  const isLatest = !/:[^/]+$/.test(String(image)) || String(image).endsWith(':latest')
  const own = { ...containerDefaults, imagePullPolicy: isLatest ? 'Always' : 'IfNotPresent' }
  return {
    ...over(own, container),
    ...(Array.isArray(ports) && {
      ports: (ports as Members[]).map((it) => ({ ...it, protocol: it['protocol'] ?? 'TCP' })),
    }),
    ...(Array.isArray(env) && { env: (env as Members[]).map(withVersion) }),
  }
}

function withVersion(variable: Members): Members {
  const from = variable['valueFrom']
  return isMembers(from) && isMembers(from['fieldRef'])
    ? { ...variable, valueFrom: { ...from, fieldRef: { apiVersion: 'v1', ...from['fieldRef'] } } }
    : variable
}

function over(defaults: Members, given: Members): Members {
  const all = Object.entries(defaults).map(([key, value]): [string, unknown] => [
    key,
    isMembers(value) && isMembers(given[key]) ? over(value, given[key]) : (given[key] ?? value),
  ])
  return { ...given, ...Object.fromEntries(all) }
}

/** Maps and lists that are left out where they are empty; what is a type of its own is not. */
const omittedEmpty: ReadonlySet<string> = new Set([
  'annotations',
  'labels',
  'finalizers',
  'ownerReferences',
  'matchLabels',
  'data',
  'binaryData',
  'stringData',
  'env',
  'envFrom',
  'ports',
  'volumes',
  'volumeMounts',
  'initContainers',
  'nodeSelector',
  'tolerations',
  'imagePullSecrets',
  'limits',
  'requests',
  'command',
  'args',
  'conditions',
])
/** Texts and truths that are no pointers in Go: without a value they are as if nobody had given them. */
const omittedZero: Members = { value: '', image: '', protocol: '', type: '', paused: false }

/**
 * As Go writes an object of a known type: without what is null, and without the maps, lists and texts that have nothing
 * in them.
 */
export function compact<T>(value: T): T {
  // what it leaves out is optional in every type of the API
  return compacted(value, []) as T
}

function compacted(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((it: unknown) => compacted(it, names))
  if (!isMembers(value) || names.at(-1) === 'managedFields') return value
  const entries = Object.entries(value).filter(([, it]) => it !== null && it !== undefined)
  if (isFree(names)) return Object.fromEntries(entries)
  return Object.fromEntries(
    entries
      .map(([name, it]) => [name, compacted(it, [...names, name])] as const)
      .filter(([name, it]) => !isOmitted(name, it)),
  )
}

function isOmitted(name: string, value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return omittedEmpty.has(name) && Object.keys(value).length === 0
  return name in omittedZero && omittedZero[name] === value
}
