import { isMembers } from './fields.ts'
import type { Resource, Stored } from './resources.ts'

type Members = Readonly<Record<string, unknown>>

/** What the API server sets where nobody does (Kubernetes API reference, the kinds' own defaults); other kinds stay as they are. */
export function defaulted({ plural }: Resource, object: Stored): Stored {
  const spec = object['spec']
  if (!isMembers(spec) || !isMembers(spec['template'])) return object
  const { template } = spec
  const own = plural === 'deployments' ? deploymentDefaults(spec) : plural === 'statefulsets' ? statefulSetDefaults : null
  return own === null ? object : { ...object, spec: { ...over(own, spec), template: withPodDefaults(template) } }
}

function deploymentDefaults({ strategy }: Members): Members {
  const rollingUpdate = { maxUnavailable: '25%', maxSurge: '25%' }
  const isRecreate = isMembers(strategy) && strategy['type'] === 'Recreate'
  return { replicas: 1, strategy: { type: 'RollingUpdate', ...(!isRecreate && { rollingUpdate }) }, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }
}

const statefulSetDefaults: Members = { replicas: 1, podManagementPolicy: 'OrderedReady', updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } }, revisionHistoryLimit: 10, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' } }
const podDefaults: Members = { restartPolicy: 'Always', terminationGracePeriodSeconds: 30, dnsPolicy: 'ClusterFirst', securityContext: {}, schedulerName: 'default-scheduler' }
const containerDefaults: Members = { resources: {}, terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File' }

function withPodDefaults(template: Members): Members {
  const spec = isMembers(template['spec']) ? template['spec'] : {}
  const lists = ['containers', 'initContainers'].filter((name) => Array.isArray(spec[name])).map((name) => [name, (spec[name] as Members[]).map(withContainerDefaults)])
  return { ...template, spec: { ...over(podDefaults, spec), ...Object.fromEntries(lists) } }
}

function withContainerDefaults(container: Members): Members {
  const { image = '', ports } = container
  const isLatest = !/:[^/]+$/.test(String(image)) || String(image).endsWith(':latest')
  const own = { ...containerDefaults, imagePullPolicy: isLatest ? 'Always' : 'IfNotPresent' }
  return { ...over(own, container), ...(Array.isArray(ports) && { ports: (ports as Members[]).map((it) => ({ ...it, protocol: it['protocol'] ?? 'TCP' })) }) }
}

function over(defaults: Members, given: Members): Members {
  const all = Object.entries(defaults).map(([key, value]): [string, unknown] => [key, isMembers(value) && isMembers(given[key]) ? over(value, given[key]) : (given[key] ?? value)])
  return { ...given, ...Object.fromEntries(all) }
}

/** As Go writes an object of a known type: what is null, and maps of texts and lists without anything, are left out. */
export function compact<T>(value: T): T {
  // what it leaves out is optional in every type of the API
  return compacted(value) as T
}

function compacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((it: unknown) => compacted(it))
  if (!isMembers(value)) return value
  const entries = Object.entries(value).filter(([, it]) => it !== null && it !== undefined)
  return Object.fromEntries(entries.map(([name, it]) => [name, compacted(it)] as const).filter(([name, it]) => !isOmitted(name, it)))
}

function isOmitted(name: string, value: unknown): boolean {
  return ['annotations', 'labels', 'env', 'ports', 'volumes'].includes(name) && typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
