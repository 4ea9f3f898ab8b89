import { sharedAnswers } from '../core/answers.ts'
import type { HostPort, Opened, Reach, Way } from '../core/endpoint.ts'
import { AdminError } from '../core/error.ts'
import type { ErrorCode } from '../core/error.ts'
import type { Platform } from '../platforms/index.ts'
import type { Suggestion } from '../core/shell-command.ts'

interface Ways {
  reach: Reach
  /**
   * Opens something. Its errors, and those of later questions to it, first list the commands by which an operator opens
   * the ways that it used.
   */
  told: <T extends object>(opening: (reach: Reach) => Promise<Opened<T>>) => Promise<Opened<T>>
  /** Closes all ways; never throws */
  close: () => Promise<void>
}

/** Returns the ways to the addresses of a deployment, each opened once; a failed one is tried again on next use. */
export function waysThrough(platform: Pick<Platform, 'reach' | 'isBeyond'>): Ways {
  const open = sharedAnswers({ keep: 'successes' })
  const all: Promise<Opened<Way> | null>[] = []
  const reach: Reach = async ({ host, port }) => {
    const opened = await open.to(JSON.stringify([host, port]), async () => {
      const opening = platform.reach({ host, port })
      all.push(opening)
      return opening
    })
    return opened?.source ?? null
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
      open.forget()
      const ways = await Promise.allSettled(all.splice(0))
      await Promise.allSettled(ways.map(async (it) => (it.status === 'fulfilled' ? it.value?.close() : undefined)))
    },
  }
}

/** How something was reached, when it failed. */
interface Taken {
  taken: ReadonlySet<Way>
  /** Addresses that were used as they are */
  direct: readonly HostPort[]
  /** When the failed work began, in milliseconds of `performance.now()` */
  since: number
  /** True if the opening itself failed */
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
    const what = `${message} (tried from this machine). Cannot tell whether the service can reach that server`
    return new AdminError(
      code,
      what,
      [
        'testops-admin doctor -d {deployment} --relay   # connects through the cluster. Repairs, resume and undo ' +
          'also accept --relay',
        ...suggestions,
      ],
      { cause, obstacle: { kind: 'beyond' } },
    )
  }
  // an answer of the other side, once it is reached, is not about the way
  return commands.length === 0 || !(isOpening || isOfWay.includes(code))
    ? error
    : new AdminError(code, message, distinct([...commands, ...suggestions]), { cause, obstacle })
}

/** Codes of errors if the way to something is cut. */
const isOfWay: readonly ErrorCode[] = ['UNREACHABLE', 'TIMED_OUT']
/** The same, as reported by a reader, or after another way failed as well */
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

/** Returns the same source, whose failing questions get such errors; also for a list of sources. */
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
