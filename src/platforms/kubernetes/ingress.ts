import type { ProxySettings } from '../../core/sources.ts'
import { ingressLimits, sizeIn, timeIn } from '../../knowledge/ingress.ts'
import type { KubernetesClient } from './client.ts'
import type { Workload } from './objects.ts'
import { isRefusal } from './refusal.ts'
import type { Service } from './service-pods.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { own } from '../../core/own.ts'

/** networking.k8s.io/v1 */
interface Ingress {
  metadata: { name: string; annotations?: Readonly<Record<string, string>> }
  spec?: {
    defaultBackend?: Backend
    rules?: readonly { http?: { paths?: readonly { backend?: Backend }[] } }[]
  }
}

interface Backend {
  service?: { name?: string }
}

/**
 * Lists the Ingresses that lead to the pods of a workload, and the limits that their annotations set. Throws as the
 * client does.
 */
export async function ingressesBefore(
  client: KubernetesClient,
  namespace: string,
  workload: Workload,
): Promise<ProxySettings[]> {
  const all = await client.list<Ingress>({ resource: 'ingresses', namespace })
  const names = [...new Set(all.flatMap(backendsOf))]
  const leading = await Promise.all(
    names.map(async (name) => ((await leadsTo(client, namespace, name, workload)) ? [name] : [])),
  )
  const own = new Set(leading.flat())
  return all.filter((it) => backendsOf(it).some((name) => own.has(name))).map((it) => settingsOf(client, namespace, it))
}

function backendsOf({ spec }: Ingress): string[] {
  const all = [
    spec?.defaultBackend,
    ...(spec?.rules ?? []).flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend)),
  ]
  return all.flatMap((it) => it?.service?.name ?? [])
}

/** True if the Service selects the pods of that template. */
async function leadsTo(
  client: KubernetesClient,
  namespace: string,
  name: string,
  { spec }: Workload,
): Promise<boolean> {
  const labels = spec.template.metadata?.labels ?? {}
  try {
    const service = await client.get<Service>({ resource: 'services', namespace, name })
    const selector = Object.entries(service.spec?.selector ?? {})
    return selector.length > 0 && selector.every(([key, value]) => own(labels, key) === value)
  } catch (error) {
    // an Ingress may name a Service that no longer exists
    if (isRefusal(error, 404)) return false
    throw error
  }
}

function settingsOf(
  client: KubernetesClient,
  namespace: string,
  { metadata: { name, annotations = {} } }: Ingress,
): ProxySettings {
  const limits = ingressLimits.find(
    ({ maxBody, readTimeout }) => (maxBody !== null && maxBody in annotations) || readTimeout in annotations,
  )
  const body = limits?.maxBody ? annotations[limits.maxBody] : undefined
  const timeout = limits ? annotations[limits.readTimeout] : undefined
  const change = (key: string | null | undefined, value: string): ShellCommand | null =>
    key ? client.kubectl('-n', namespace, 'annotate', '--overwrite', 'ingress', name, `${key}=${value}`) : null
  return {
    name: `Ingress \`${name}\` in namespace \`${namespace}\``,
    maxBodyBytes: body === undefined ? null : sizeIn(body),
    readTimeoutMs: timeout === undefined || !limits ? null : timeIn(timeout, limits.unitMs),
    evidence: [
      client.kubectl('-n', namespace, 'get', 'ingress', name, '-o', 'yaml'),
      ...[limits?.maxBody, limits?.readTimeout].flatMap((key) =>
        key && annotations[key] !== undefined ? [`${key}: ${annotations[key]}`] : [],
      ),
    ],
    change: { maxBody: change(limits?.maxBody, '100m'), readTimeout: change(limits?.readTimeout, '300') },
  }
}
