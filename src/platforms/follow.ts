import { setTimeout as sleep } from 'node:timers/promises'
import type { ErrorCode } from '../core/error.ts'
import { AdminError } from '../core/error.ts'
import { handover } from '../core/handover.ts'
import type { FollowedLine, FollowOptions } from '../core/sources.ts'

/** A line and when it was written, in nanoseconds since 1970, which engines and kubelets note before the line. */
interface TimedLine {
  at: bigint
  text: string
}

const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)(?: (.*))?$/s

/** Parses a line with its time; null for a message of the engine or the kubelet. */
export function timedLine(line: string): TimedLine | null {
  const [, seconds, fraction = '', zone, text = ''] = pattern.exec(line) ?? []
  const at = Date.parse(`${seconds}${zone}`)
  return Number.isNaN(at) ? null : { at: nanoseconds(at) + BigInt(fraction.padEnd(9, '0')), text }
}

/** Converts milliseconds since 1970 to nanoseconds. */
export function nanoseconds(at: number): bigint {
  return BigInt(Math.floor(at)) * 1_000_000n
}

/**
 * Formats a time in nanoseconds, cut to the whole second. Kubernetes' API server passes on no more than that
 * (metav1.Time), and Podman leaves out a line of exactly the given time.
 */
export function wholeSecond(at: bigint): string {
  return `${new Date(Number(at / 1_000_000_000n) * 1000).toISOString().slice(0, 19)}Z`
}

/** How far the lines of one log were read, so that a stream that is opened again continues there. */
class Position {
  #same = 0

  /** `at`: time of the last line, in nanoseconds since 1970; null if none was read */
  constructor(public at: bigint | null) {}

  note(at: bigint): void {
    this.#same = at === this.at ? this.#same + 1 : 1
    this.at = at
  }

  /**
   * Returns a test for each line of a new stream, in order: true if it was not read before. Several may have the same
   * time.
   */
  fresh(): (at: bigint) => boolean {
    const had = this.at
    let left = this.#same
    let isPast = had === null
    return (at) => {
      // after the first new line all are new, even if a clock was set back
      if (!isPast && had !== null) isPast = at > had || (at === had && left-- <= 0)
      return isPast
    }
  }
}

/** A container that prints, or has printed, a log. */
interface Place {
  /** Its own; a container that replaces it has another */
  key: string
  /** Name for people */
  name: string
  /** Identifies its present run */
  run: string
  isRunning: boolean
}

/** Where to start reading a log. */
export interface Beginning {
  /** Inclusive, in nanoseconds since 1970 by the clock there; null to read from the first line */
  since: bigint | null
  /** Only lines from this many seconds before now; 0 for new lines only */
  agoSeconds: number | null
  /** True if a run before this one may have ended unseen */
  mayMiss: boolean
}

/** The containers of a service, and how their logs are read. */
export interface Places<P extends Place> {
  /** Lists the present ones */
  list(): Promise<readonly P[]>
  /** Yields lines, each after its time, until the container or the signal ends them; throws if the stream breaks */
  lines(place: P, from: Beginning, signal: AbortSignal): AsyncIterable<string>
}

interface Follower {
  /** Resolves when the open stream ends; null if none is open */
  work: Promise<void> | null
  run: string
  isBroken: boolean
  /** Time of this machine's steady clock, in milliseconds, before which lines are not wanted; null if all are */
  newSince: number | null
  position: Position
  trouble: (said: string | null) => void
}

/** Milliseconds between looks for containers, and between attempts to reopen what broke. */
const pollMs = 1000
/** Codes of errors that do not pass by themselves */
const lasting: ReadonlySet<ErrorCode> = new Set([
  'CONFIGURATION',
  'FORBIDDEN',
  'INTERRUPTED',
  'SECRET_MISSING',
  'UNAUTHENTICATED',
])

/**
 * Yields the lines of all containers of a service as they are printed, also of containers that start later. Throws what
 * the first look throws, and errors that do not pass by themselves.
 */
export async function* followPlaces<P extends Place>(
  places: Places<P>,
  options: FollowOptions,
): AsyncGenerator<FollowedLine> {
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  const lines = handover<FollowedLine>(signal)
  const work = keepUp(places, { ...options, signal }, lines)
  try {
    yield* lines.values()
  } finally {
    stop.abort()
    await work
  }
}

async function keepUp<P extends Place>(
  places: Places<P>,
  { signal, since, tell = () => undefined }: FollowOptions,
  { put, fail }: ReturnType<typeof handover<FollowedLine>>,
): Promise<void> {
  const followers = new Map<string, Follower>()

  const begin = (place: P, isFirst: boolean): Follower => ({
    work: null,
    run: place.run,
    // a container that ended before has nothing new
    isBroken: !isFirst || since !== undefined,
    newSince: isFirst && !since ? performance.now() : null,
    position: new Position(since ? nanoseconds(since.getTime()) : null),
    trouble: onceEach(tell),
  })

  const follow = async (place: P, follower: Follower, isNew: boolean): Promise<void> => {
    const { position, newSince, trouble } = follower
    const mayMiss = isNew ? newSince === null : follower.isBroken && follower.run !== place.run
    const agoSeconds =
      position.at !== null || newSince === null ? null : isNew ? 0 : Math.ceil((performance.now() - newSince) / 1000)
    const isFresh = position.fresh()
    let said: string | null = null
    Object.assign(follower, { run: place.run, isBroken: false })
    try {
      for await (const line of places.lines(place, { since: position.at, agoSeconds, mayMiss }, signal)) {
        const timed = timedLine(line)
        if (timed === null) said = line.trim() || said
        else if (isFresh(timed.at)) {
          trouble(null)
          await put({ from: place.name, text: timed.text, stamp: line.slice(0, line.length - timed.text.length) })
          position.note(timed.at)
        }
      }
    } catch (error) {
      if (!(error instanceof AdminError) || lasting.has(error.code)) return fail(error)
      follower.isBroken = true
      said = error.message
    } finally {
      follower.work = null
    }
    if (said !== null && !signal.aborted) trouble(`reading the log of ${place.name} stopped: ${said}`)
  }

  const look = async (isFirst: boolean): Promise<void> => {
    const now = await places.list()
    const present = new Set(now.map(({ key }) => key))
    for (const [key, { work }] of followers) if (!present.has(key) && work === null) followers.delete(key)
    if (signal.aborted) return
    for (const place of now) {
      const known = followers.get(place.key)
      const follower = known ?? begin(place, isFirst)
      followers.set(place.key, follower)
      const isDue = place.isRunning || follower.isBroken || follower.run !== place.run
      if (follower.work === null && isDue) follower.work = follow(place, follower, !known)
    }
  }

  const trouble = onceEach(tell)
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    try {
      await look(isFirst)
      trouble(null)
    } catch (error) {
      if (isFirst || !(error instanceof AdminError) || lasting.has(error.code)) {
        if (!signal.aborted) fail(error)
        break
      }
      trouble(error.message)
    }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined)
  }
  await Promise.all([...followers.values()].flatMap(({ work }) => work ?? []))
}

/** Returns a function that repeats a message only after null, which says that the trouble is over. */
function onceEach(tell: (message: string) => void): (said: string | null) => void {
  let last: string | null = null
  return (said) => {
    if (said !== null && said !== last) tell(said)
    last = said
  }
}
