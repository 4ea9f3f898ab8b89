import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fitsGlob } from '../../../core/glob.ts'
import type { GlobSign } from '../../../core/glob.ts'
import type { Clock } from '../machine.ts'
import { errorBody, reasonPhrase } from './errors.ts'

/**
 * An answer that the lab plans for some calls (control.ts, `planAnswers`). If several fit a call, the first one not
 * used up applies, in place of the service. Without `status` and `ending`, the service answers as usual after
 * `delayMs`, so a plan can also just count calls.
 */
export interface PlannedAnswer {
  /** any method if left out */
  method?: string
  /** the whole path without its query; `*` stands for any characters */
  path: string
  /** number of matching calls that it applies to; all if left out */
  times?: number
  /** number of matching calls that pass before it applies; 0 if left out */
  after?: number
  /** 429, 503, 500, …: with Spring's error body, unless `body` or `proxyPage` says otherwise */
  status?: number
  /** such as `Retry-After` */
  headers?: Readonly<Record<string, string>>
  body?: string
  /** the body is a reverse proxy's HTML page: 502, 504, 413 */
  proxyPage?: true
  /**
   * `silent`: never answer; `cut`: cut the connection before the service does anything; `lost`: let the service do its
   * work, then cut the connection instead of answering
   */
  ending?: 'silent' | 'cut' | 'lost'
  /** milliseconds to wait first */
  delayMs?: number
}

export interface AnswerPlan {
  /** replaces the plan; throws TypeError if the new one is invalid */
  replace(plan: unknown): void
  /** returns how often each answer of the plan has been given */
  given(): readonly number[]
  /** wraps the listener, so that the plan comes first */
  before(listener: RequestListener): RequestListener
}

export function answerPlan(clock: Clock): AnswerPlan {
  let plan: Planned[] = []
  return {
    replace: (given) => (plan = read(given)),
    given: () => plan.map(({ given }) => given),
    before: (listener) => (request, response) => {
      const found = plan.find((it) => holds(it, request))
      if (!found) return listener(request, response)
      found.given += 1
      void give(found.answer, request, response, clock, listener)
    },
  }
}

interface Planned {
  answer: PlannedAnswer
  path: readonly GlobSign[]
  /** matching calls so far */
  seen: number
  given: number
}

function holds(planned: Planned, { method, url = '' }: IncomingMessage): boolean {
  const { answer, path, given } = planned
  if (given >= (answer.times ?? Infinity)) return false
  if (answer.method !== undefined && answer.method !== method) return false
  if (!fitsGlob(path, url.split('?')[0]!)) return false
  planned.seen += 1
  return planned.seen > (answer.after ?? 0)
}

async function give(
  { status, headers, body, proxyPage, ending, delayMs }: PlannedAnswer,
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
  listener: RequestListener,
): Promise<void> {
  if (delayMs !== undefined) await sleep(delayMs, undefined, { ref: false })
  if (ending === 'silent') return
  if (ending === 'cut') return void request.destroy()
  if (ending === 'lost') response.writeHead = () => response.destroy()
  if (status === undefined) return void listener(request, response)
  const path = (request.url ?? '').split('?')[0]!
  const text =
    body ?? (proxyPage ? pageOf(status) : JSON.stringify(errorBody(clock, status, reasonPhrase(status), path)))
  const type = proxyPage ? 'text/html' : body === undefined ? 'application/json' : 'text/plain'
  // read and drop the rest of the request, so that the connection can be reused
  request.resume()
  response.writeHead(status, { 'Content-Type': type, Date: new Date(clock.now()).toUTCString(), ...headers }).end(text)
}

/** Returns an error page as nginx writes it. */
function pageOf(status: number): string {
  const title = `${status} ${reasonPhrase(status)}`
  return (
    `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n` +
    '<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n'
  )
}

const types = {
  method: 'string',
  path: 'string',
  times: 'number',
  after: 'number',
  status: 'number',
  headers: 'object',
  body: 'string',
  proxyPage: 'boolean',
  ending: 'string',
  delayMs: 'number',
} as const satisfies Record<keyof PlannedAnswer, string>

function read(plan: unknown): Planned[] {
  if (!Array.isArray(plan)) throw new TypeError('send a list of answers')
  return plan.map((answer: unknown) => {
    if (typeof answer !== 'object' || answer === null) throw new TypeError('an answer is no object')
    for (const [key, value] of Object.entries(answer)) {
      if (!Object.hasOwn(types, key)) throw new TypeError(`${key} is not known`)
      if (typeof value !== types[key as keyof typeof types]) throw new TypeError(`${key} is not of its type`)
    }
    const planned = answer as PlannedAnswer
    if (planned.path === undefined) throw new TypeError('path is missing')
    if (planned.ending !== undefined && !['silent', 'cut', 'lost'].includes(planned.ending))
      throw new TypeError('ending is not known')
    return { answer: planned, path: patternOf(planned.path), seen: 0, given: 0 }
  })
}

/** Parses a path in which `*` stands for any characters. */
function patternOf(path: string): GlobSign[] {
  return [...path].map((sign) => (sign === '*' ? '*' : (character) => character === sign))
}
