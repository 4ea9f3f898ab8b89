import { AdminError } from '../../core/error.ts'
import type { ErrorCode } from '../../core/error.ts'
import type { KubernetesClient } from './client.ts'
import type { Pod } from './objects.ts'
import { isReady } from './pods.ts'
import { isRefusal } from './refusal.ts'
import { isLost } from './rollout.ts'
import { command } from '../../core/shell-command.ts'
import type { Suggestion } from '../../core/shell-command.ts'

/**
 * How an API server, or a proxy before it, says that it gets no stream to a pod: 500, 502, 400, 404, or nothing at all.
 */
const without: readonly ErrorCode[] = ['UNEXPECTED_ANSWER', 'UNAVAILABLE', 'UNREACHABLE', 'TIMED_OUT']

/** How a request to the API server fails that says nothing of what was to be reached through it. */
const unanswered: readonly ErrorCode[] = [
  'UNEXPECTED_ANSWER',
  'UNREACHABLE',
  'TIMED_OUT',
  'UNAUTHENTICATED',
  'EXHAUSTED',
]

const relayed: Suggestion =
  'testops-admin doctor -d {deployment} --relay   # checks through the cluster. Repairs, resume and undo take --relay too'

/**
 * What it means that no stream to a pod could be opened. As long as the API server calls the pod and its node Ready,
 * only the way from here is missing, and what runs there was not looked at. A pod on a node that is lost serves nobody.
 */
export async function withoutStream(client: KubernetesClient, place: Place, error: unknown): Promise<unknown> {
  return unseen(client, place, error, {
    finds: 'does not connect this machine to it',
    ways: () => [relayed, "run this on another machine, such as one in the cluster's network"],
  })
}

/** The same of a log, which no relay leads to: the API server asks the kubelet for it, whoever asks. */
export async function withoutLog(
  client: KubernetesClient,
  place: Place & { container: string },
  error: unknown,
): Promise<unknown> {
  const ways = (node: string): Suggestion[] => [
    command`crictl logs "$(crictl ps --quiet --name ${place.container} --label ${`io.kubernetes.pod.name=${place.pod}`})"   # on ${node}, as root`,
  ]
  return unseen(client, place, error, { finds: 'cannot get its log from the kubelet', ways })
}

interface Place {
  namespace: string
  pod: string
}

interface Unseen {
  /** what the cluster does not do, as it says */
  finds: string
  ways: (node: string) => readonly Suggestion[]
}

async function unseen(
  client: KubernetesClient,
  { namespace, pod }: Place,
  error: unknown,
  { finds, ways }: Unseen,
): Promise<unknown> {
  if (!(error instanceof AdminError) || !without.includes(error.code)) return error
  // what is wrong with the request the API server says itself; a proxy may have taken the upgrade out of it
  if (isRefusal(error, 400) && !/upgrade/i.test(error.message)) return error
  try {
    const [found] = await client.list<Pod>({
      resource: 'pods',
      namespace,
      query: { fieldSelector: `metadata.name=${pod}` },
    })
    if (!found || !isReady(found)) return error
    const { nodeName } = found.spec
    const node = nodeName === undefined ? 'its node' : `node \`${nodeName}\``
    if (nodeName !== undefined && (await isLost(client, nodeName)) === true) {
      return new AdminError(
        'UNAVAILABLE',
        `pod \`${pod}\` is on ${node}, which is not Ready: ${error.message}`,
        [client.kubectl('describe', 'node', nodeName)],
        { cause: error, obstacle: { kind: 'instances' } },
      )
    }
    return new AdminError(
      'UNREACHABLE',
      `${client.cluster} calls pod \`${pod}\` Ready, but ${finds} (${node}): ${error.message}`,
      [...ways(nodeName ?? 'its node'), ...error.suggestions],
      { cause: error, obstacle: { kind: 'beyond' } },
    )
  } catch (failure) {
    if (failure instanceof AdminError && failure.code !== 'INTERRUPTED') return error
    throw failure
  }
}

/** An open stream broke, and neither side ended it. */
export function brokenStream(pod: string, why: string): AdminError {
  return new AdminError('UNREACHABLE', `the stream to pod \`${pod}\` broke: ${why}`)
}

/**
 * An API server that does not answer says nothing of a part that was to be reached through it: it was not looked at.
 */
export function withoutAnswer(error: unknown): unknown {
  if (!(error instanceof AdminError) || !unanswered.includes(error.code) || error.obstacle?.kind === 'beyond')
    return error
  return new AdminError(error.code, error.message, error.suggestions, { cause: error, obstacle: { kind: 'beyond' } })
}
