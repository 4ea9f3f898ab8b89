import type { ServerResponse } from 'node:http'
import type { Cluster } from './cluster.ts'
import type { Asked } from './request.ts'
import type { Stored } from './resources.ts'
import { apiVersionOf } from './resources.ts'
import { matchesFields, matchesLabels } from './select.ts'

/** Tells what is there, where no version to begin from is given, and then every change until the time is over. */
export function answerWatch(asked: Asked, cluster: Cluster, response: ServerResponse): void {
  const { resource, namespace, query } = asked
  const isWanted = (object: Stored): boolean => isSelected(object, asked)
  const tell = (type: string, object: Stored): void => {
    const shown = { kind: resource.kind, apiVersion: apiVersionOf(resource), ...object }
    response.write(`${JSON.stringify({ type, object: shown })}\n`)
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  if (['', '0'].includes(query.get('resourceVersion') ?? '')) {
    for (const object of cluster.list(resource.plural, namespace).filter(isWanted)) tell('ADDED', object)
  }
  // a client that has asked for all that is there is told where that ends (KEP-3157)
  if (query.get('sendInitialEvents') === 'true') {
    const metadata = {
      resourceVersion: String(cluster.resourceVersion),
      annotations: { 'k8s.io/initial-events-end': 'true' },
    }
    const object = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata }
    response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`)
  }
  const changed = (change: { type: string; resource: string; object: Stored }): void => {
    if (change.resource === resource.plural && isWanted(change.object)) tell(change.type, change.object)
  }
  cluster.changes.on('change', changed)
  const timer = setTimeout(() => response.end(), Number(query.get('timeoutSeconds') ?? 1800) * 1000)
  response.once('close', () => {
    clearTimeout(timer)
    cluster.changes.off('change', changed)
  })
}

export function isSelected(object: Stored, { namespace, query }: Asked): boolean {
  return (
    (namespace === null || object.metadata.namespace === namespace) &&
    matchesLabels(object, query.get('labelSelector')) &&
    matchesFields(object, query.get('fieldSelector'))
  )
}
