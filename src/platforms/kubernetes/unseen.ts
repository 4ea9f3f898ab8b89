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
 * Codes of errors with which an API server, or a proxy before it, says that it gets no stream to a pod: 500, 502, 400,
 * 404, or nothing at all.
 */
const without: readonly ErrorCode[] = ['UNEXPECTED_ANSWER', 'UNAVAILABLE', 'UNREACHABLE', 'TIMED_OUT']

/** Codes of failed requests to the API server that say nothing of what was to be reached through it. */
const unanswered: readonly ErrorCode[] = [
  'UNEXPECTED_ANSWER',
  'UNREACHABLE',
  'TIMED_OUT',
  'UNAUTHENTICATED',
  'EXHAUSTED',
]

const relayed: Suggestion =
  'testops-admin doctor -d {deployment} --relay   # connects through the cluster. Repairs, resume and undo also ' +
  'accept --relay'

/**
 * Explains why no stream to a pod could be opened. If the API server calls the pod and its node Ready, only the way
 * from this machine is missing. What runs there was not looked at. A pod on a lost node serves nobody.
 */
export async function withoutStream(client: KubernetesClient, place: Place, error: unknown): Promise<unknown> {
  return unseen(client, place, error, {
    finds: 'this machine cannot connect to the pod',
    ways: () => [relayed, "run the same command on another machine, such as one on the cluster's network"],
  })
}

/** Explains why a log cannot be read. No relay leads to it: for every caller, the API server asks the kubelet. */
export async function withoutLog(
  client: KubernetesClient,
  place: Place & { container: string },
  error: unknown,
): Promise<unknown> {
  const ways = (node: string): Suggestion[] => [
    command`crictl logs "$(crictl ps --quiet --name ${place.container} --label
      ${`io.kubernetes.pod.name=${place.pod}`})"   # on ${node}, as root`,
  ]
  return unseen(client, place, error, { finds: "cannot get the pod's log from the kubelet", ways })
}

interface Place {
  namespace: string
  pod: string
}

interface Unseen {
  /** What fails nevertheless, as a clause after the cluster's report */
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
  // the API server itself says what is wrong with a request; a proxy may have removed its upgrade
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
      `${client.cluster} reports pod \`${pod}\` as Ready, but ${finds} (${node}): ${error.message}`,
      [...ways(nodeName ?? 'its node'), ...error.suggestions],
      { cause: error, obstacle: { kind: 'beyond' } },
    )
  } catch (failure) {
    if (failure instanceof AdminError && failure.code !== 'INTERRUPTED') return error
    throw failure
  }
}

/** Returns the error for an open stream that broke, and that neither side ended. */
export function brokenStream(pod: string, why: string): AdminError {
  return new AdminError('UNREACHABLE', `the stream to pod \`${pod}\` broke: ${why}`)
}

/**
 * Marks an API server's failure to answer: it says nothing of what was to be reached through it, which was not looked
 * at.
 */
export function withoutAnswer(error: unknown): unknown {
  if (!(error instanceof AdminError) || !unanswered.includes(error.code) || error.obstacle?.kind === 'beyond')
    return error
  return new AdminError(error.code, error.message, error.suggestions, { cause: error, obstacle: { kind: 'beyond' } })
}
