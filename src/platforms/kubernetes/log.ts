import type { LogText } from '../../adapters/log-file.ts'
import { AdminError } from '../../core/error.ts'
import type { Suggestion } from '../../core/shell-command.ts'
import type { UnreadPart } from '../../core/sources.ts'
import { followPlaces } from '../follow.ts'
import { nanoseconds, wholeSecond } from '../timed-line.ts'
import type { KubernetesClient } from './client.ts'
import type { ContainerStatus, Pod } from './objects.ts'
import { serviceContainer } from './image.ts'
import { inTurns } from './in-turns.ts'
import { statusIn } from './pods.ts'
import { isRefusal } from './refusal.ts'
import { withoutLog } from './unseen.ts'
import type { Beginning, Places } from '../follow.ts'

/** lines of one container that are asked for: the limit of bytes that the API has cuts off what is newest */
const maxLines = 50_000
/** by how much the times before its lines may make a text longer */
const withTimes = 2

/**
 * The newest that the service's containers have printed, those that ended before the present ones included, as one text
 * in the order of time; what belongs to one record stays together. Throws as the client does where none of them can be
 * read; of some, `unread` tells.
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
  /** of the service itself, not of what runs before it */
  isOwn: boolean
  previous: boolean
}

function partsOf(pod: Pod): Part[] {
  const { name, namespace = '' } = pod.metadata
  const container = serviceContainer(pod.spec)?.name
  if (container === undefined) return []
  const status = statusIn(pod)
  const part = { namespace, pod: name, container, isOwn: true }
  // as long as it waits for what runs before it, that is where the reason is
  const before = status?.state?.waiting?.reason === 'PodInitializing' ? (pod.spec.initContainers ?? []) : []
  return [
    ...before.map((it) => ({ ...part, container: it.name, isOwn: false, previous: false })),
    ...((status?.restartCount ?? 0) > 0 ? [{ ...part, previous: true }] : []),
    { ...part, previous: false },
  ]
}

/** Null where there is nothing: the pod has gone meanwhile, or its container has not started yet. */
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

/** Nothing where `textOf` is null. */
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
  return `${pod}${isOwn ? '' : `/${container}`}${previous ? ' (the run before)' : ''}`
}

/** Lines of one container that belong together. */
interface Block {
  /** when the first of them was printed, to the nanosecond, in UTC */
  at: string
  lines: string
}

/**
 * A record of the service's log begins with a date (FIELD-NOTES.md 1.4), or is an object of JSON; what does not goes on
 * with the one before.
 */
function blocksIn({ text, complete }: { text: string; complete: boolean }): Block[] {
  const blocks: Block[] = []
  for (const line of text.split('\n')) {
    const [, at, content] = /^(\d{4}-\d\d-\d\dT\S+)(?!\S) ?(.*)$/.exec(line) ?? []
    if (at === undefined || content === undefined) continue
    const last = blocks.at(-1)
    const isRecord = /^(?:\d{4}-\d\d-\d\d[T ]\d\d:|\{")/.test(content)
    if (last && !isRecord) last.lines += `${content}\n`
    // the beginning of what was cut belongs to a record that is not there
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

/** in characters; a container runtime breaks lines into far shorter pieces, which the kubelet puts together again */
const maxLength = 1_000_000

/** The containers of the service in its pods, and those that run before them, as far as they have begun. */
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

/** A pod that has gone since it was seen has no log, neither has a container that is about to be started again. */
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
