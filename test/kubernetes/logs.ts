import type { ServerResponse } from 'node:http'
import type { Cluster, LogLine } from './cluster.ts'
import type { Asked } from './request.ts'
import type { Pod, Stored } from './resources.ts'
import { badRequest, kubeletRefuses, kubeletUnreachable } from './status.ts'

/** What a container printed. Throws 404 for a pod, 400 for a container that is not there or has printed nothing yet. */
export function answerLog({ namespace, name, query }: Asked, cluster: Cluster, response: ServerResponse): void {
  const pod = cluster.get('pods', namespace, name ?? '') as Pod
  const container = containerOf(pod, query.get('container'))
  if (cluster.isHidden('log', pod)) {
    const asked = new URLSearchParams([...query].filter(([key]) => key !== 'container').sort()).toString()
    throw kubeletUnreachable(
      `Get "https://10.99.0.1:10251/containerLogs/${namespace}/${name}/${container}` +
        `${asked === '' ? '' : `?${asked}`}": ${kubeletRefuses}`,
    )
  }
  const key = `${namespace}/${name}/${container}`
  const isPrevious = query.get('previous') === 'true'
  const lines = cluster.logs.get(key)?.[isPrevious ? 'previous' : 'current']
  if (!lines && isPrevious) throw badRequest(`previous terminated container "${container}" in pod "${name}" not found`)
  const status = pod.status.containerStatuses?.find((it) => it.name === container)
  const reason = status?.state['waiting']?.['reason']
  if (!lines && reason === 'ContainerCreating')
    throw badRequest(`container "${container}" in pod "${name}" is waiting to start: ${reason}`)

  const { text, count } = textOf(lines ?? [], query)
  response.writeHead(200, { 'content-type': 'text/plain' })
  if (query.get('follow') !== 'true') return void response.end(text)
  response.write(text)
  const isWanted = since(query)
  let shown = count
  const more = (changed: string): void => {
    if (changed !== key) return
    const all = cluster.logs.get(key)?.current ?? []
    response.write(all.slice(shown).filter(isWanted).map(shownBy(query)).join(''))
    shown = all.length
  }
  const end = (): void => {
    cluster.changes.off('log', more)
    cluster.changes.off('change', ended)
    response.end()
  }
  // the kubelet follows a container until it ends
  const ended = ({ resource, object }: { resource: string; object: Stored }): void => {
    if (resource !== 'pods' || object.metadata.uid !== pod.metadata.uid) return
    const now = cluster.find('pods', namespace, name ?? '') as Pod | null
    const it = now?.status.containerStatuses?.find((status) => status.name === container)
    if (
      now?.metadata.uid !== pod.metadata.uid ||
      (it && (it.restartCount !== status?.restartCount || it.state['terminated']))
    )
      end()
  }
  if (status?.state['terminated']) return void response.end()
  cluster.changes.on('log', more)
  cluster.changes.on('change', ended)
  response.once('close', end)
}

/** Throws 400 where there is no such container, or several of which none is named. */
export function containerOf({ metadata: { name }, spec }: Pod, wanted: string | null): string {
  const all = [...spec.containers, ...(spec.initContainers ?? [])].map((it) => it.name)
  if (wanted !== null && !all.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`)
  if (wanted === null && all.length > 1)
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(' ')}]`)
  return wanted ?? all[0] ?? ''
}

function textOf(lines: readonly LogLine[], query: URLSearchParams): { text: string; count: number } {
  const tail = Number(query.get('tailLines') ?? Infinity)
  const recent = lines.filter(since(query))
  const wanted = tail === Infinity ? recent : tail === 0 ? [] : recent.slice(-tail)
  const text = Buffer.from(wanted.map(shownBy(query)).join(''))
  // the limit cuts off what is newest, as the kubelet's does
  return { text: text.subarray(0, Number(query.get('limitBytes') ?? text.length)).toString(), count: lines.length }
}

/**
 * The API server hands `sinceTime` on to the kubelet in whole seconds, whatever was asked for; what is just of that
 * time is shown.
 */
function since(query: URLSearchParams): (line: LogLine) => boolean {
  const time = query.get('sinceTime')
  const seconds = query.get('sinceSeconds')
  const from =
    time !== null
      ? Math.floor(Date.parse(time) / 1000) * 1000
      : seconds !== null
        ? Date.now() - Number(seconds) * 1000
        : -Infinity
  return ({ at }) => Date.parse(at) >= from
}

function shownBy(query: URLSearchParams): (line: LogLine) => string {
  return ({ at, text }) => (query.get('timestamps') === 'true' ? `${at} ${text}\n` : `${text}\n`)
}
