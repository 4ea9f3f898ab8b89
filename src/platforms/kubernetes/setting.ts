import type { Compared, SettingChange } from '../../core/controls.ts'
import { AdminError } from '../../core/error.ts'
import type { KubernetesClient } from './client.ts'
import { isRefusal } from './refusal.ts'
import type { WorkloadRef } from './scale.ts'
import type { ShellCommand } from '../../core/shell-command.ts'

/** The container of a workload whose settings are changed. */
export interface SettingsOf {
  client: KubernetesClient
  workload: WorkloadRef
  container: string
}

interface EnvVar {
  name: string
  value?: string
  valueFrom?: { secretKeyRef?: KeyRef; configMapKeyRef?: KeyRef }
}

interface KeyRef {
  name?: string
  key?: string
}

interface Source {
  prefix?: string
  configMapRef?: { name?: string }
  secretRef?: { name?: string }
}

interface ConfigObject {
  data?: Readonly<Record<string, string>>
}

interface Container {
  name: string
  env?: EnvVar[]
  envFrom?: Source[]
}

interface Workload {
  metadata: { resourceVersion?: string }
  spec: { template: { spec: { containers: Container[] } } }
}

interface Operation {
  op: 'add' | 'replace' | 'remove'
  path: string
  value?: unknown
}

const attempts = 5

/**
 * Sets or removes a variable of the service's container in its pod template, if it is as it was seen; changes nothing
 * else there. Throws REFUSED if the variable comes from a ConfigMap or a Secret, with the place, or is set several
 * times there; and as the client does.
 */
export async function patchSetting(of: SettingsOf, change: SettingChange, { dryRun = false } = {}): Promise<Compared> {
  const { client, workload } = of
  for (let left = attempts; ; left -= 1) {
    const found = await client.get<Workload>(workload)
    const wanted = await operationOn(of, found, change)
    if (wanted === 'set' || wanted === 'changed') return wanted
    const { resourceVersion } = found.metadata
    // with its version, so that another writer's change since then is a conflict
    const body = [
      ...(resourceVersion === undefined
        ? []
        : [{ op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion }]),
      ...wanted,
    ]
    try {
      await client.change(
        { ...workload, ...(dryRun && { query: { dryRun: 'All' } }) },
        { verb: 'patch', kind: 'json', body },
      )
      return 'set'
    } catch (error) {
      if (!isRefusal(error, 409) || left === 1) throw error
    }
  }
}

/** Returns the change to make, or the answer if there is none to make. Throws REFUSED. */
async function operationOn(
  of: SettingsOf,
  { spec }: Workload,
  { name, from, to }: SettingChange,
): Promise<Compared | Operation[]> {
  const { containers } = spec.template.spec
  const at = containers.findIndex((it) => it.name === of.container)
  const container = containers[at]
  if (!container)
    throw new AdminError('REFUSED', `${placeOf(of)} no longer has container \`${of.container}\``, [shown(of)])
  const { env = [] } = container
  const places = env.flatMap((it, index) => (it.name === name ? [index] : []))
  const path = `/spec/template/spec/containers/${at}/env`
  // of several with one name the last counts
  const last = places.at(-1)
  if (last === undefined) {
    const elsewhere = await fromSources(of, container.envFrom ?? [], name)
    if (elsewhere !== null) throw notHere(name, elsewhere, of)
    if (to === null) return 'set'
    if (from !== null) return 'changed'
    const value = { name, value: to }
    return [container.env ? { op: 'add', path: `${path}/-`, value } : { op: 'add', path, value: [value] }]
  }
  const entry = env[last]!
  if (entry.valueFrom) throw notHere(name, keyPlace(entry.valueFrom), of)
  const current = entry.value ?? ''
  if (current === to) return 'set'
  if (current !== from) return 'changed'
  if (to !== null)
    return [{ op: entry.value === undefined ? 'add' : 'replace', path: `${path}/${last}/value`, value: to }]
  if (places.length > 1) throw severalTimes(name, places.length, of)
  return [{ op: 'remove', path: `${path}/${last}` }]
}

/** Finds the object in `envFrom` that has this variable; null if none does. */
async function fromSources(
  { client, workload: { namespace } }: SettingsOf,
  sources: readonly Source[],
  name: string,
): Promise<{ resource: 'configmaps' | 'secrets'; object: string } | null> {
  for (const { prefix = '', configMapRef, secretRef } of sources) {
    const resource = configMapRef ? 'configmaps' : 'secrets'
    const object = (configMapRef ?? secretRef)?.name
    if (object === undefined || !name.startsWith(prefix)) continue
    const { data = {} } = await client
      .get<ConfigObject>({ resource, namespace, name: object })
      .catch((error: unknown): ConfigObject => {
        // an optional object may be missing
        if (isRefusal(error, 404)) return {}
        throw error
      })
    if (name.slice(prefix.length) in data) return { resource, object }
  }
  return null
}

function keyPlace({
  secretKeyRef,
  configMapKeyRef,
}: NonNullable<EnvVar['valueFrom']>): { resource: 'configmaps' | 'secrets'; object: string } | null {
  if (configMapKeyRef) return { resource: 'configmaps', object: configMapKeyRef.name ?? '' }
  return secretKeyRef ? { resource: 'secrets', object: secretKeyRef.name ?? '' } : null
}

function notHere(
  name: string,
  place: { resource: 'configmaps' | 'secrets'; object: string } | null,
  of: SettingsOf,
): AdminError {
  const { client, workload } = of
  if (place === null)
    return new AdminError(
      'REFUSED',
      `${placeOf(of)} takes the value of \`${name}\` from a field of the pod, so this setting cannot be changed`,
      [shown(of)],
    )
  const kind = place.resource === 'configmaps' ? 'ConfigMap' : 'Secret'
  return new AdminError(
    'REFUSED',
    `\`${name}\` comes from ${kind} \`${place.object}\` in namespace \`${workload.namespace}\`, so it cannot ` +
      `be changed in ${placeOf(of)}`,
    [client.kubectl('-n', workload.namespace, 'edit', kind.toLowerCase(), place.object)],
  )
}

function severalTimes(name: string, count: number, of: SettingsOf): AdminError {
  return new AdminError(
    'REFUSED',
    `\`${name}\` is set ${count} times in ${placeOf(of)}: if the last value were removed, an earlier one would ` +
      'take effect',
    [shown(of)],
  )
}

function placeOf({ workload: { resource, namespace, name } }: SettingsOf): string {
  return `${resource === 'deployments' ? 'Deployment' : 'StatefulSet'} \`${name}\` in namespace \`${namespace}\``
}

function shown({ client, workload: { resource, namespace, name } }: SettingsOf): ShellCommand {
  return client.kubectl('-n', namespace, 'get', `${resource.slice(0, -1)}/${name}`, '-o', 'yaml')
}
