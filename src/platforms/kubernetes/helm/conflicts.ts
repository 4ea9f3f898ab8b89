import { parseYaml, YamlError } from '../../../adapters/yaml/index.ts'
import { AdminError } from '../../../core/error.ts'
import { isObject } from '../../../core/shape.ts'
import type { FieldConflict } from '../../../core/sources.ts'
import type { KubernetesClient } from '../client.ts'
import { Refusal } from '../refusal.ts'
import { groupOf } from '../resources.ts'
import type { ResourceName } from '../resources.ts'

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

/** Kinds that charts have, each within a namespace, and that are asked about here; another is left to helm. */
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
/** who writes so gives its fields up before helm is run (`fields.ts`) */
const ourselves = 'testops-admin'
/**
 * as which helm applies, whatever its program is called (helm, cmd/helm/helm.go); programs built upon its library have
 * names of their own
 */
const helm = 'helm'
const mostObjects = 500

/**
 * What the API server says to each object that helm would apply on the server's side, on trial (`dryRun=All`): helm's
 * own `--dry-run=server` sends none of them. An object that it does not answer for is left out. Throws INTERRUPTED.
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

/** `conflict with "kubectl" with subresource "scale" using apps/v1` */
function conflictIn(
  { message, field }: { message: string; field: string },
  of: Pick<FieldConflict, 'object' | 'shown'>,
): FieldConflict[] {
  const [, manager, rest = ''] = /^conflict with "((?:[^"\\]|\\.)*)"(.*)$/.exec(message) ?? []
  const isOwn = manager === ourselves && rest.includes(' using ')
  return isOwn ? [] : [{ ...of, field, manager: manager ?? message }]
}

/** As helm marks what is a release's (helm.sh, "helm upgrade"). */
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

/** A document that is no object, or no YAML of ours, is passed over. */
function objectsIn(manifest: string): Manifested[] {
  // what stands behind the dashes is part of the document that begins there
  return manifest.split(/^---(?=\s|$)/m).flatMap((text) => {
    try {
      const { value } = parseYaml(text)
      // helm takes a list apart
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
