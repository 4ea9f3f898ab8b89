import type { LogText } from '../../adapters/log-file.ts'
import { AdminError } from '../../core/error.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { UnreadPart } from '../../core/sources.ts'
import { followPlaces, nanoseconds, wholeSecond } from '../follow.ts'
import type { KubernetesClient } from './client.ts'
import type { ContainerStatus, Pod } from './objects.ts'
import { serviceContainer } from './find.ts'
import { inTurns } from '../../core/work.ts'
import { statusIn } from './pods.ts'
import { isRefusal } from './refusal.ts'
import { withoutLog } from './unseen.ts'
import type { Beginning, Places } from '../follow.ts'

/** Maximum lines of one container that are asked for; the API's own limit of bytes cuts off the newest */
const maxLines = 50_000
/** Factor by which the times before its lines may lengthen a text */
const withTimes = 2

/**
 * Returns the log of the service's containers. `newest` returns one text in the order of time, runs that ended before
 * the present ones included; the lines of one record stay together. It throws as the client does if no container can be
 * read, and names those that cannot in `unread`.
 */
export function logOf(client: KubernetesClient, target: Suggestion, pods: () => Promise<readonly Pod[]>): LogText {
  return {
    target,
    prints: target,
    follow: (options) => followPlaces(podLogs(client, pods), options),
    parts: async ({ since }) =>
      (await pods())
        .flatMap(partsOf)
        .map((part) => ({ name: nameOf(part), blocks: (signal) => blocksOf(client, part, since, signal) })),
    async newest({ maxBytes }) {
      const parts = (await pods()).flatMap(partsOf)
      const unread = new Map<string, UnreadPart>()
      const read = await inTurns(parts, async (part) =>
        textOf(client, part, maxBytes).catch((error: unknown) => {
          if (!(error instanceof AdminError) || error.code === 'INTERRUPTED') throw error
          // one reason for each pod
          if (!unread.has(part.pod)) unread.set(part.pod, { name: part.pod, error })
          return null
        }),
      )
      const known = read.filter((it) => it !== null)
      const [first] = unread.values()
      if (first && known.length === 0) throw first.error
      const blocks = known.flatMap(blocksIn).sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0))
      const kept = newestOf(blocks, maxBytes)
      return {
        complete: kept.length === blocks.length && known.every(({ complete }) => complete),
        text: kept.map(({ lines }) => lines).join(''),
        ...(first && { unread: [...unread.values()] }),
      }
    },
  }
}

interface Part {
  namespace: string
  pod: string
  container: string
  /** True for the service itself, false for what runs before it */
  isOwn: boolean
  previous: boolean
}

function partsOf(pod: Pod): Part[] {
  const { name, namespace = '' } = pod.metadata
  const container = serviceContainer(pod.spec)?.name
  if (container === undefined) return []
  const status = statusIn(pod)
  const part = { namespace, pod: name, container, isOwn: true }
  // while it waits for what runs before it, the reason is there
  const before = status?.state?.waiting?.reason === 'PodInitializing' ? (pod.spec.initContainers ?? []) : []
  return [
    ...before.map((it) => ({ ...part, container: it.name, isOwn: false, previous: false })),
    ...((status?.restartCount ?? 0) > 0 ? [{ ...part, previous: true }] : []),
    { ...part, previous: false },
  ]
}

/** Returns null if there is nothing: the pod has gone meanwhile, or its container has not started yet. */
async function textOf(
  client: KubernetesClient,
  { namespace, pod, container, previous }: Part,
  maxBytes: number,
): Promise<{ complete: boolean; text: string } | null> {
  const query = { container, timestamps: true, tailLines: maxLines, ...(previous && { previous }) }
  try {
    const read = await client.text(
      { resource: 'pods', namespace, name: pod, subresource: 'log', query },
      { maxBytes: maxBytes * withTimes },
    )
    return { ...read, complete: read.complete && read.text.split('\n').length <= maxLines }
  } catch (error) {
    if (isNothing(error)) return null
    throw await withoutLog(client, { namespace, pod, container }, error)
  }
}

/** Yields nothing if the pod has gone meanwhile, or its container has not started yet. */
async function* blocksOf(
  client: KubernetesClient,
  { namespace, pod, container, previous }: Part,
  since?: Date,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const query = {
    container,
    timestamps: true,
    ...(since && { sinceTime: wholeSecond(nanoseconds(since.getTime())) }),
    ...(previous && { previous }),
  }
  try {
    yield* client.blocks({ resource: 'pods', namespace, name: pod, subresource: 'log', query }, { signal })
  } catch (error) {
    if (!isNothing(error)) throw await withoutLog(client, { namespace, pod, container }, error)
  }
}

function isNothing(error: unknown): boolean {
  return isRefusal(error, 404) || isRefusal(error, 400)
}

function nameOf({ pod, container, isOwn, previous }: Part): string {
  return `${pod}${isOwn ? '' : `/${container}`}${previous ? ' (previous run)' : ''}`
}

/** Lines of one container that belong together. */
interface Block {
  /** When its first line was printed, to the nanosecond, in UTC */
  at: string
  lines: string
}

/**
 * Splits a text into records. One begins with a date (FIELD-NOTES.md 1.4), or is an object of JSON; any other line
 * continues the one before.
 */
function blocksIn({ text, complete }: { text: string; complete: boolean }): Block[] {
  const blocks: Block[] = []
  for (const line of text.split('\n')) {
    const [, at, content] = /^(\d{4}-\d\d-\d\dT\S+)(?!\S) ?(.*)$/.exec(line) ?? []
    if (at === undefined || content === undefined) continue
    const last = blocks.at(-1)
    const isRecord = /^(?:\d{4}-\d\d-\d\d[T ]\d\d:|\{")/.test(content)
    if (last && !isRecord) last.lines += `${content}\n`
    // a cut text begins with the rest of a record that is missing
    else if (isRecord || complete) blocks.push({ at, lines: `${content}\n` })
  }
  return blocks
}

function newestOf(blocks: readonly Block[], maxBytes: number): readonly Block[] {
  let length = 0
  const first = blocks.findLastIndex(({ lines }) => (length += Buffer.byteLength(lines)) > maxBytes)
  return blocks.slice(first + 1)
}

interface PodContainer {
  key: string
  name: string
  run: string
  isRunning: boolean
  namespace: string
  pod: string
  container: string
  restarts: number
}

/** Maximum characters of a line; runtimes break lines into far shorter pieces, which the kubelet joins again */
const maxLength = 1_000_000

/** Returns the containers of the service in its pods, and those that run before them, as far as they have begun. */
function podLogs(client: KubernetesClient, pods: () => Promise<readonly Pod[]>): Places<PodContainer> {
  return {
    list: async () => (await pods()).flatMap(containersOf),
    async *lines({ namespace, pod, container, restarts }, from, signal) {
      const part = (more: object) =>
        ({
          resource: 'pods',
          namespace,
          name: pod,
          subresource: 'log',
          query: { container, timestamps: true, ...more },
        }) as const
      const options = { maxLength, signal }
      if (restarts > 0 && from.mayMiss)
        yield* unlessGone(client.lines(part({ ...wanted(from), previous: true }), options))
      yield* unlessGone(client.lines(part({ ...wanted(from), follow: true }), options))
    },
  }
}

function wanted({ since, agoSeconds }: Beginning): object {
  if (since !== null) return { sinceTime: wholeSecond(since) }
  return agoSeconds === null ? {} : agoSeconds === 0 ? { tailLines: 0 } : { sinceSeconds: agoSeconds }
}

/** Ends without an error if the pod has gone since it was seen, or if its container is about to start again. */
async function* unlessGone(lines: AsyncIterable<string>): AsyncGenerator<string> {
  try {
    yield* lines
  } catch (error) {
    if (!isRefusal(error, 404) && !isRefusal(error, 400)) throw error
  }
}

function containersOf({ metadata: { uid, name, namespace = '' }, spec, status }: Pod): PodContainer[] {
  const own = serviceContainer(spec)?.name
  const before = (spec.initContainers ?? []).map((it) => it.name)
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
  return all
    .filter((it) => hasBegun(it) && (it.name === own || before.includes(it.name)))
    .map((it) => ({
      key: `${uid}/${it.name}`,
      name: it.name === own ? name : `${name}/${it.name}`,
      run: String(it.restartCount ?? 0),
      isRunning: it.state?.running !== undefined,
      namespace,
      pod: name,
      container: it.name,
      restarts: it.restartCount ?? 0,
    }))
}

function hasBegun({ state, restartCount = 0 }: ContainerStatus): boolean {
  return state?.running !== undefined || state?.terminated !== undefined || restartCount > 0
}
