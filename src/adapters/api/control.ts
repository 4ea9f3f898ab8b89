import { setMaxListeners } from 'node:events'
import { unlessAborted } from '../../core/abort.ts'
import type { ApiControl, MigrationAnswer, MigrationItem } from '../../core/api-control.ts'
import { AdminError } from '../../core/error.ts'
import type { HttpAnswer } from '../http.ts'
import { isLost, pause, pauseBefore, retryAfterMs } from './persistence.ts'
import { isProxyError } from './refusals.ts'
import { awaitReturn } from './return.ts'
import type { ApiSession } from './session.ts'

export interface ControlOptions {
  /** for how long a service that has gone away, or wants no more calls, is waited for */
  patienceMs: number
  /** aborted when nothing is to be waited for any more */
  stopped: AbortSignal
}

/** how often an answer that asks for patience is believed */
const mostTries = 6
const firstPauseMs = 1000

/** Asks for migrations (SPEC.md 4.3, 4.4). */
export function apiControl(session: ApiSession, { patienceMs, stopped }: ControlOptions): ApiControl {
  const returned = awaitReturn(session.http, { patienceMs, stopped })
  return {
    target: session.http.peer.where,
    async migrateTrees(item, { signal }) {
      // as many listen to it as calls are under way
      setMaxListeners(0, signal)
      const path = pathOf(item)
      const comesBack = async (): Promise<boolean> => unlessAborted(returned(), signal, () => signal.reason as Error)
      const started = performance.now()
      /** calls of which it is not known whether they were taken */
      let unknown = 0
      for (let tried = 1; ; tried++) {
        const isLast = tried === mostTries
        let isUnderway = false
        let answer: HttpAnswer
        try {
          answer = await session.send(path, { signal, underway: (is) => (isUnderway = is) })
        } catch (error) {
          if (isUnderway) unknown += 1
          if (!isAway(error, isUnderway) || isLast || unknown > 1 || !(await comesBack())) throw error
          continue
        }
        // a proxy that lost the service, which may have taken the call before
        if (answer.status === 502) unknown += 1
        if (answer.status === 502 && !isLast && unknown === 1 && (await comesBack())) continue
        if (answer.status === 429 || answer.status === 503) {
          const pauseMs = (retryAfterMs(answer) ?? 0) + pauseBefore(tried, firstPauseMs)
          if (!isLast && performance.now() - started + pauseMs <= patienceMs) {
            await pause(pauseMs, signal)
            // a proxy says so for as long as the service restarts
            if (isProxyError(answer)) await comesBack()
            continue
          }
        }
        return answerOf(answer, path, session)
      }
    },
  }
}

function pathOf({ project, tree }: MigrationItem): string {
  return `/api/project/${project}/test-case/tree/${tree === null ? '' : `${tree}/`}migration`
}

/** Whether the service may be there again in a while. A call that has gone out and is not answered is not asked for twice. */
function isAway(error: unknown, isUnderway: boolean): boolean {
  if (!(error instanceof AdminError)) return false
  if (error.code === 'TIMED_OUT') return !isUnderway
  if (error.code === 'UNREACHABLE') return error.obstacle === null || error.obstacle.kind === 'refused'
  return isLost(error)
}

function answerOf(answer: HttpAnswer, path: string, session: ApiSession): MigrationAnswer {
  const { status, headers, text } = answer
  // a page is what something else than the service answers, a sign-in for example
  const isPage = /^\s*</.test(text)
  if (status >= 200 && status < 300 && !isPage) return { status: 'accepted' }
  const isElsewhere = status < 300 || (status < 400 && headers['location'] !== undefined)
  if (isElsewhere) throw session.refusal('POST', path, answer)
  return { status: 'refused', httpStatus: status, message: session.reason(answer) }
}
