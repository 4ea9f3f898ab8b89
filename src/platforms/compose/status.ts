import { moment } from '../../core/format.ts'
import { beginningWithoutSecrets } from '../../core/redaction/index.ts'
import type { PlatformChange, ServiceInstance, ServiceStatus } from '../../core/sources.ts'
import { typed } from '../../core/typed.ts'
import type { Container } from './containers.ts'
import type { Engine } from './engine.ts'
import { jsonIn } from './engine.ts'
import type { Declared } from './project.ts'

/**
 * Returns the state of a service's containers. `here`: their processes are this machine's. `pending`: what a start
 * would change, for people.
 */
export function statusOf(
  containers: readonly Container[],
  here: boolean,
  pending: readonly string[] = [],
): ServiceStatus {
  const states = containers.map(stateOf)
  const state = states.includes('running') ? 'running' : states.includes('failed') ? 'failed' : 'stopped'
  const detail = containers.length === 0 ? 'it has no container' : containers.map(detailOf).join('; ')
  const isRestarting = state === 'failed' && containers.some((it) => it.state.status === 'restarting')
  return {
    state,
    detail: [detail, ...pending].join('; '),
    instances: containers.filter(runs).map((it) => instanceOf(it, here)),
    ...(isRestarting && { startsAgain: true }),
  }
}

export function runs({ state }: Container): boolean {
  return state.status === 'running' || state.status === 'paused'
}

function stateOf(container: Container): ServiceStatus['state'] {
  const { status, exitCode, outOfMemory, error } = container.state
  if (runs(container)) return 'running'
  if (status === 'restarting' || status === 'dead' || outOfMemory || error !== '') return 'failed'
  // under such a policy the engine would start it again, so somebody has stopped it
  const isLeftSo = ['always', 'unless-stopped'].includes(container.restartPolicy)
  return status === 'created' || isLeftSo || endedByStop.includes(exitCode) ? 'stopped' : 'failed'
}

/** The exit codes of a program that `docker stop` ended: its own, or those of SIGINT, SIGKILL, SIGTERM. */
export const endedByStop: readonly number[] = [0, 130, 137, 143]

function instanceOf({ name, hostname, state }: Container, here: boolean): ServiceInstance {
  return { name, host: hostname, pid: here && state.pid > 0 ? state.pid : null, startedAt: state.startedAt }
}

/** Describes a container: 'container testops: running, healthy, since …, restarted 2 times' */
function detailOf(container: Container): string {
  const { name, state, restarts } = container
  const ended = state.status === 'exited' || state.status === 'restarting' || state.status === 'dead'
  const parts = [
    state.status,
    runs(container) && state.health !== null ? healthOf(state) : '',
    runs(container) && state.startedAt !== null ? `since ${moment(state.startedAt)}` : '',
    ended ? `exit code ${state.exitCode}` : '',
    ended && state.finishedAt !== null ? `at ${moment(state.finishedAt)}` : '',
    state.outOfMemory ? 'killed, out of memory' : '',
    state.error,
    restarts > 0 ? `restarted ${restarts} ${restarts === 1 ? 'time' : 'times'}` : '',
  ]
  return `container ${name}: ${parts.filter(Boolean).join(', ')}`
}

function healthOf({ health, healthOutput }: Container['state']): string {
  if (health !== 'unhealthy' || healthOutput === null) return health ?? ''
  return `unhealthy (${beginningWithoutSecrets(healthOutput.split('\n').at(-1)!, 200)})`
}

/** Milliseconds from a container's creation to its first start, at most */
const firstStartMs = 60_000

/** Returns when a container was created, ended and was started again, as far as its engine keeps that. */
export function containerChanges({ name, image, createdAt, state }: Container, program: string): PlatformChange[] {
  const { startedAt, finishedAt, exitCode, outOfMemory, status } = state
  const proof = typed([program, 'inspect', name])
  const isFirst = createdAt !== null && startedAt !== null && startedAt.getTime() - createdAt.getTime() <= firstStartMs
  const hasEnded = finishedAt !== null && status !== 'created'
  // an engine keeps the last code: of one that runs again, it is that of nobody
  const isOver = !['running', 'paused'].includes(status)
  const how = isOver ? `exited with ${exitCode}${outOfMemory ? ', out of memory' : ''}` : 'ended'
  const told = (at: Date, kind: 'rollout' | 'restart', what: string): PlatformChange => ({
    kind,
    at,
    message: `container \`${name}\` ${what}`,
    proof,
  })
  return [
    ...(createdAt === null ? [] : [told(createdAt, 'rollout', `was created from image \`${image}\``)]),
    ...(hasEnded ? [told(finishedAt, 'restart', how)] : []),
    ...(startedAt === null || isFirst ? [] : [told(startedAt, 'restart', 'was started')]),
  ]
}

/** Lists the settings, and `image`, that differ between a container and its files. Only a new container gets them. */
export async function pendingSettings(engine: Engine, container: Container, declared: Declared): Promise<string[]> {
  const has = assignmentsIn(container.environment)
  const image = declared.image !== null && !isSameImage(declared.image, container.image) ? ['image'] : []
  const wanted = [...declared.environment].filter((entry): entry is [string, string] => entry[1] !== null)
  const changed = [...image, ...wanted.filter(([name, value]) => has.get(name) !== value).map(([name]) => name)]
  const extra = [...has.keys()].filter((name) => !declared.environment.has(name))
  if (extra.length === 0) return changed
  const ofImage = await imageEnvironment(engine, container.image)
  return [...changed, ...extra.filter((name) => ofImage !== null && !ofImage.has(name))]
}

/** True if two names mean the same image; Podman writes out what an image's name leaves out. */
export function isSameImage(one: string, other: string): boolean {
  const [first, second] = [one, other].map((image) => image.replace(/^(docker\.io\/(library\/)?|localhost\/)/, ''))
  return first === second
}

/** Returns the image's own settings; null if it cannot be inspected, for example because it was removed. */
async function imageEnvironment(engine: Engine, image: string): Promise<ReadonlyMap<string, string> | null> {
  const { stdout, exitCode } = await engine.ask(['image', 'inspect', image])
  if (exitCode !== 0) return null
  const [shown] = (jsonIn(stdout) ?? []) as { Config?: { Env?: string[] | null } }[]
  // every container has these from its network and its shell
  return new Map([
    ...assignmentsIn(shown?.Config?.Env ?? []),
    ['PATH', ''],
    ['HOSTNAME', ''],
    ['HOME', ''],
    ['TERM', ''],
    ['container', ''],
  ])
}

export function assignmentsIn(environment: readonly string[]): Map<string, string> {
  return new Map(environment.map((it) => [it.slice(0, it.indexOf('=')), it.slice(it.indexOf('=') + 1)]))
}
