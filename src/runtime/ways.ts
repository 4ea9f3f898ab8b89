import type { HostPort, Opened, Reach, Way } from '../core/endpoint.ts'
import { AdminError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import type { Platform } from '../platforms/index.ts'
import type { Suggestion } from '../core/shell-command.ts'

interface Ways {
  reach: Reach
  /**
   * What opening something gives; an error of it, or of what is asked of it later, names first how an operator opens
   * the ways that it took.
   */
  told: <T extends object>(opening: (reach: Reach) => Promise<Opened<T>>) => Promise<Opened<T>>
  /** never throws */
  close: () => Promise<void>
}

/**
 * The ways to the addresses of a deployment, each opened once; one that cannot be is tried again when it is asked for
 * again.
 */
export function waysThrough(platform: Pick<Platform, 'reach' | 'isBeyond'>): Ways {
  const open = new Map<string, Promise<Opened<Way> | null>>()
  const reach: Reach = async ({ host, port }) => {
    const key = JSON.stringify([host, port])
    const held = open.get(key)
    if (held) return (await held)?.source ?? null
    const opening = platform.reach({ host, port })
    open.set(key, opening)
    opening.catch(() => open.delete(key))
    return (await opening)?.source ?? null
  }
  return {
    reach,
    async told(opening) {
      const taken = new Set<Way>()
      const direct: HostPort[] = []
      const told = async <T>(work: Promise<T>, since: number, isOpening = false): Promise<T> =>
        work.catch(async (error: unknown) => {
          throw error instanceof AdminError && error.code !== 'INTERRUPTED'
            ? await toldOf(error, { taken, direct, since, platform, isOpening })
            : error
        })
      const opened = await told(
        opening(async (address) => {
          const way = await reach(address)
          if (way) taken.add(way)
          else direct.push(address)
          return way
        }),
        performance.now(),
        true,
      )
      return { ...opened, source: withTold(opened.source, told) }
    },
    async close() {
      const all = await Promise.allSettled(open.values())
      open.clear()
      await Promise.allSettled(all.map(async (it) => (it.status === 'fulfilled' ? it.value?.close() : undefined)))
    },
  }
}

/** How the way to something was, when something failed. */
interface Taken {
  taken: ReadonlySet<Way>
  /** addresses that were used as they are */
  direct: readonly HostPort[]
  /** when what failed was begun */
  since: number
  /** it was the opening itself */
  isOpening: boolean
  platform: Pick<Platform, 'isBeyond'>
}

async function toldOf(error: AdminError, { taken, direct, since, platform, isOpening }: Taken): Promise<AdminError> {
  const { code, message, suggestions, cause, obstacle } = error
  const commands = [...taken].flatMap(({ command }) => command ?? [])
  const broken = maybeBroken.includes(code) ? await brokenOf(taken, since) : null
  if (broken)
    return new AdminError(
      isOfWay.includes(code) ? code : broken.code,
      broken.message,
      distinct([...commands, ...broken.suggestions]),
      { cause: error, obstacle: broken.obstacle },
    )
  if (isOfWay.includes(code) && (await isBeyond(platform, direct))) {
    const what = `${message}; from this machine, that is: whether the service reaches it is not known`
    return new AdminError(
      code,
      what,
      [
        'testops-admin doctor -d {deployment} --relay   # looks through the cluster; repairs, resume and undo also take --relay',
        ...suggestions,
      ],
      { cause, obstacle: { kind: 'beyond' } },
    )
  }
  // what the other side says once it is reached is not of its way
  return commands.length === 0 || !(isOpening || isOfWay.includes(code))
    ? error
    : new AdminError(code, message, distinct([...commands, ...suggestions]), { cause, obstacle })
}

/** How something fails whose way ends before it. */
const isOfWay: readonly ErrorCode[] = ['UNREACHABLE', 'TIMED_OUT']
/** the same, told by what reads what comes, or has tried another way in vain */
const maybeBroken: readonly ErrorCode[] = [...isOfWay, 'UNEXPECTED_ANSWER', 'UNAVAILABLE']

async function brokenOf(ways: ReadonlySet<Way>, since: number): Promise<AdminError | null> {
  for (const way of ways) {
    const broken = await way.brokenSince?.(since)
    if (broken) return broken
  }
  return null
}

async function isBeyond(platform: Pick<Platform, 'isBeyond'>, direct: readonly HostPort[]): Promise<boolean> {
  if (!platform.isBeyond) return false
  for (const address of direct) if (await platform.isBeyond(address)) return true
  return false
}

/** The same, of which every question that fails is told so; a list of several likewise. */
function withTold<T extends object>(source: T, told: <R>(work: Promise<R>, since: number) => Promise<R>): T {
  if (Array.isArray(source)) return source.map((one: object) => withTold(one, told)) as unknown as T
  return new Proxy(source, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...input: unknown[]): unknown => {
        const since = performance.now()
        const answer: unknown = Reflect.apply(value, target, input)
        return answer instanceof Promise ? told(answer, since) : answer
      }
    },
  })
}

function distinct(all: readonly Suggestion[]): Suggestion[] {
  return [...new Set(all)]
}
