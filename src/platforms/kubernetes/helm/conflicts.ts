import { parseYaml, YamlError } from '../../../adapters/yaml/index.ts'
import { AdminError } from '../../../core/error.ts'
import { isObject } from '../../../core/shape.ts'
import type { FieldConflict } from '../../../core/sources.ts'
import type { KubernetesClient } from '../client.ts'
import { Refusal } from '../refusal.ts'
import { groupOf } from '../objects.ts'
import type { ResourceName } from '../objects.ts'

/** Which release, as helm marks its objects. */
interface ReleaseName {
  name: string
  namespace: string
}

/** An object of a manifest. */
interface Manifested {
  apiVersion: string
  kind: string
  metadata: Readonly<Record<string, unknown>> & { name: string }
}

type Asking = Pick<KubernetesClient, 'change' | 'kubectl'>

/** Kinds that charts have, each within a namespace, and that are asked about here; other kinds are left to helm. */
const kinds: Readonly<Record<string, ResourceName>> = {
  ConfigMap: 'configmaps',
  CronJob: 'cronjobs',
  DaemonSet: 'daemonsets',
  Deployment: 'deployments',
  HorizontalPodAutoscaler: 'horizontalpodautoscalers',
  Ingress: 'ingresses',
  NetworkPolicy: 'networkpolicies',
  PersistentVolumeClaim: 'persistentvolumeclaims',
  PodDisruptionBudget: 'poddisruptionbudgets',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  Secret: 'secrets',
  Service: 'services',
  ServiceAccount: 'serviceaccounts',
  StatefulSet: 'statefulsets',
}
/** Field manager of this program, which gives its fields up before helm runs (`fields.ts`) */
const ourselves = 'testops-admin'
/**
 * Field manager of helm, whatever its program is called (helm, cmd/helm/helm.go); programs built upon its library have
 * names of their own
 */
const helm = 'helm'
const mostObjects = 500

/**
 * Asks the API server on trial (`dryRun=All`) about each object that helm would apply on the server's side, and returns
 * the conflicts. Helm's own `--dry-run=server` sends none of them. Leaves out an object without an answer. Throws
 * INTERRUPTED.
 */
export async function conflictsIn(client: Asking, release: ReleaseName, manifest: string): Promise<FieldConflict[]> {
  const conflicts: FieldConflict[] = []
  for (const object of objectsIn(manifest).slice(0, mostObjects))
    conflicts.push(...(await conflictsOf(client, release, object)))
  return conflicts
}

async function conflictsOf(client: Asking, release: ReleaseName, object: Manifested): Promise<FieldConflict[]> {
  const resource = kinds[object.kind]
  const { namespace = release.namespace, name } = object.metadata
  if (resource === undefined || groupIn(object.apiVersion) !== groupOf(resource) || typeof namespace !== 'string')
    return []
  const shown = client.kubectl('-n', namespace, 'get', `${resource}/${name}`, '-o', 'yaml', '--show-managed-fields')
  try {
    const query = { fieldManager: helm, fieldValidation: 'Ignore', force: false, dryRun: 'All' }
    await client.change(
      { resource, namespace, name, query },
      { verb: 'patch', kind: 'apply', body: marked(object, release) },
    )
    return []
  } catch (error) {
    if (error instanceof Refusal)
      return error.causes.flatMap((it) =>
        it.reason === 'FieldManagerConflict' ? conflictIn(it, { object: `${resource}/${name}`, shown }) : [],
      )
    if (error instanceof AdminError && error.code !== 'INTERRUPTED') return []
    throw error
  }
}

/** Reads `conflict with "kubectl" with subresource "scale" using apps/v1`; empty if this program owns the field. */
function conflictIn(
  { message, field }: { message: string; field: string },
  of: Pick<FieldConflict, 'object' | 'shown'>,
): FieldConflict[] {
  const [, manager, rest = ''] = /^conflict with "((?:[^"\\]|\\.)*)"(.*)$/.exec(message) ?? []
  const isOwn = manager === ourselves && rest.includes(' using ')
  return isOwn ? [] : [{ ...of, field, manager: manager ?? message }]
}

/** Marks an object as helm marks those of a release (helm.sh, "helm upgrade"). */
function marked({ apiVersion, kind, metadata, ...rest }: Manifested, { name, namespace }: ReleaseName): object {
  const labels = { ...recordIn(metadata['labels']), 'app.kubernetes.io/managed-by': 'Helm' }
  const annotations = {
    ...recordIn(metadata['annotations']),
    'meta.helm.sh/release-name': name,
    'meta.helm.sh/release-namespace': namespace,
  }
  return { apiVersion, kind, ...rest, metadata: { namespace, ...metadata, labels, annotations } }
}

function recordIn(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {}
}

/** Returns the objects of a manifest; skips a document that is no object, or that our YAML parser rejects. */
function objectsIn(manifest: string): Manifested[] {
  // text after the dashes is part of the document that begins there
  return manifest.split(/^---(?=\s|$)/m).flatMap((text) => {
    try {
      const { value } = parseYaml(text)
      // helm splits a list into its items
      const all = isObject(value) && Array.isArray(value['items']) ? (value['items'] as unknown[]) : [value]
      return all.filter(isManifested)
    } catch (error) {
      if (error instanceof YamlError) return []
      throw error
    }
  })
}

function isManifested(value: unknown): value is Manifested {
  return (
    isObject(value) &&
    typeof value['apiVersion'] === 'string' &&
    typeof value['kind'] === 'string' &&
    isObject(value['metadata']) &&
    typeof value['metadata']['name'] === 'string'
  )
}

function groupIn(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.split('/')[0]! : ''
}
