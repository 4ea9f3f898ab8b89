import type { Beginning, Places } from '../follow.ts'
import { wholeSecond } from '../timed-line.ts'
import type { KubernetesClient } from './client.ts'
import { serviceContainer } from './image.ts'
import type { ContainerStatus, Pod } from './objects.ts'
import { isRefusal } from './refusal.ts'

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
export function podLogs(client: KubernetesClient, pods: () => Promise<readonly Pod[]>): Places<PodContainer> {
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
