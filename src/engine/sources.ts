import { AdminError } from '../core/error.ts'
import type { SourceName, Sources } from '../core/sources.ts'

/**
 * Opens each source; each is called at most once. Throws AdminError NOT_CONFIGURED if the deployment has no such part.
 */
export type OpenSources = { readonly [K in SourceName]: () => Promise<Sources[K]> }

/** A source that opened, or the error from opening it. */
export type Opening<T> = { source: T } | { error: unknown }

export type ShareSource = <K extends SourceName>(name: K) => Promise<Opening<Sources[K]>>

/** Opens sources on first use and shares them among the checks. Never throws: a failure is a value, shared too. */
export function shareSources(open: OpenSources, deadlineMs: number): ShareSource {
  const openings = new Map<SourceName, Promise<Opening<Sources[SourceName]>>>()
  return <K extends SourceName>(name: K) => {
    const opening = openings.get(name) ?? attempt<Sources[SourceName]>(name, open[name], deadlineMs)
    openings.set(name, opening)
    return opening as Promise<Opening<Sources[K]>>
  }
}

async function attempt<T extends object>(
  name: SourceName,
  open: () => Promise<T>,
  deadlineMs: number,
): Promise<Opening<T>> {
  const late = (): AdminError =>
    new AdminError('TIMED_OUT', `${names[name]} could not be opened within ${deadlineMs / 1000} s`)
  try {
    const source = await withDeadline(open(), deadlineMs, late)
    const remembered = Array.isArray(source) ? source.map((one: object) => remember(one)) : remember(source)
    return { source: remembered as T }
  } catch (error) {
    return { error }
  }
}

const names: Record<SourceName, string> = {
  database: 'the database',
  broker: 'the broker',
  sessions: 'the session store',
  service: "the platform's view of the service",
  api: "the service's API",
  logs: "the service's log",
  accessLog: 'the access log',
  network: 'name resolution on this machine',
  runs: 'the journals of repairs on this machine',
  files: 'the settings files',
  release: 'the Helm release',
}

/**
 * Wraps a source so that each question is asked once: later callers share the first answer or failure. All checks of a
 * run judge one state, and a question that several ask costs the deployment one call.
 */
function remember<T extends object>(source: T): T {
  const answers = new Map<string, unknown>()
  return new Proxy(source, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      return (...input: unknown[]): unknown => {
        const question = `${String(property)} ${JSON.stringify(input)}`
        if (!answers.has(question)) answers.set(question, Reflect.apply(value, target, input))
        return answers.get(question)
      }
    },
  })
}

/**
 * Waits for `work` for at most `milliseconds`, then rejects with the error of `late`; the outcome of `work` is ignored.
 */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), milliseconds)
  })
  try {
    return await Promise.race([work, end])
  } finally {
    clearTimeout(timer)
  }
}
