import { AdminError, isForbidden } from '../core/error.ts'
import type { ApiSource } from '../core/sources.ts'
import type { Workshop } from './handler.ts'

/** so long a service that runs is tried, where this machine has no way to it */
const unseenMs = 10_000

/**
 * Whether the service tells its health, well or not: it does so once it is through its start. True where it has no API
 * that is known, or its address may not be read: the plan has said so.
 */
export async function answers(workshop: Pick<Workshop, 'open'>): Promise<boolean> {
  return (await answerOf(workshop)) === true
}

/** The same; an error where this machine has no way to it, so that nothing is known. */
export async function answerOf({ open }: Pick<Workshop, 'open'>): Promise<boolean | AdminError> {
  const isBeyond = (error: AdminError): boolean => error.obstacle?.kind === 'beyond'
  let api: ApiSource
  try {
    api = await open.api()
  } catch (error) {
    if (!(error instanceof AdminError)) throw error
    return isBeyond(error) ? error : error.code === 'NOT_CONFIGURED' || isForbidden(error)
  }
  try {
    return (await api.health()).status !== null
  } catch (error) {
    if (error instanceof AdminError) return isBeyond(error) && error
    throw error
  }
}

/**
 * Is told each answer while a service that runs is waited for, at most `patienceMs` long. Throws the error by which
 * this machine has no way to it, once that has been so for a while: waiting in vain is no use. `stands`: what is known
 * of it, for people.
 */
export function unseenWatch(patienceMs: number, stands: string): (answer: boolean | AdminError) => void {
  let until: number | null = null
  return (answer) => {
    // a way that is missing for a moment may be that of a pod which is new
    until = answer instanceof AdminError ? (until ?? performance.now() + Math.min(unseenMs, patienceMs / 2)) : null
    if (answer instanceof AdminError && until !== null && performance.now() > until) throw notSeen(stands, answer)
  }
}

function notSeen(stands: string, error: AdminError): AdminError {
  const again = 'resume with --relay, or on a machine that reaches the cluster'
  return new AdminError(
    error.code,
    `${stands}; cannot tell whether it answers: ${error.message}`,
    [again, ...error.suggestions],
    { cause: error, obstacle: error.obstacle },
  )
}
