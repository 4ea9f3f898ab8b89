import type { ServerResponse } from 'node:http'
import type { Cluster, LogLine } from './cluster.ts'
import type { Asked } from './request.ts'
import type { Pod } from './resources.ts'
import { badRequest } from './status.ts'

/** What a container printed. Throws 404 for a pod, 400 for a container that is not there or has printed nothing yet. */
export function answerLog({ namespace, name, query }: Asked, cluster: Cluster, response: ServerResponse): void {
  const pod = cluster.get('pods', namespace, name ?? '') as Pod
  const container = containerOf(pod, query.get('container'))
  const key = `${namespace}/${name}/${container}`
  const isPrevious = query.get('previous') === 'true'
  const lines = cluster.logs.get(key)?.[isPrevious ? 'previous' : 'current']
  if (!lines && isPrevious) throw badRequest(`previous terminated container "${container}" in pod "${name}" not found`)
  const status = pod.status.containerStatuses?.find((it) => it.name === container)
  const reason = status?.state['waiting']?.['reason']
  if (!lines && reason === 'ContainerCreating') throw badRequest(`container "${container}" in pod "${name}" is waiting to start: ${reason}`)

  const { text, count } = textOf(lines ?? [], query)
  response.writeHead(200, { 'content-type': 'text/plain' })
  if (query.get('follow') !== 'true') return void response.end(text)
  response.write(text)
  let shown = count
  const more = (changed: string): void => {
    if (changed !== key) return
    const all = cluster.logs.get(key)?.current ?? []
    response.write(all.slice(shown).map(shownBy(query)).join(''))
    shown = all.length
  }
  cluster.changes.on('log', more)
  response.once('close', () => cluster.changes.off('log', more))
}

/** Throws 400 where there is no such container, or several of which none is named. */
export function containerOf({ metadata: { name }, spec }: Pod, wanted: string | null): string {
  const all = [...spec.containers, ...(spec.initContainers ?? [])].map((it) => it.name)
  if (wanted !== null && !all.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${name}`)
  if (wanted === null && all.length > 1) throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${all.join(' ')}]`)
  return wanted ?? all[0] ?? ''
}

function textOf(lines: readonly LogLine[], query: URLSearchParams): { text: string; count: number } {
  const since = Date.now() - Number(query.get('sinceSeconds') ?? Infinity) * 1000
  const tail = Number(query.get('tailLines') ?? Infinity)
  const recent = lines.filter(({ at }) => Date.parse(at) >= since)
  const wanted = tail === Infinity ? recent : tail === 0 ? [] : recent.slice(-tail)
  const text = Buffer.from(wanted.map(shownBy(query)).join(''))
  // the limit cuts off what is newest, as the kubelet's does
  return { text: text.subarray(0, Number(query.get('limitBytes') ?? text.length)).toString(), count: lines.length }
}

function shownBy(query: URLSearchParams): (line: LogLine) => string {
  return ({ at, text }) => (query.get('timestamps') === 'true' ? `${at} ${text}\n` : `${text}\n`)
}
