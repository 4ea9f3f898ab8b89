import { AdminError, isForbidden } from '../core/error.ts'
import { command } from '../core/shell-command.ts'
import type { ApiSource } from '../core/sources.ts'
import { endingIn, masked } from '../domain/last-words.ts'
import { tolerant } from '../domain/wanted.ts'
import type { Workshop } from './handler.ts'

/** How long a running service is tried when this machine has no way to it */
const unseenMs = 10_000

/**
 * True if the service reports its health, good or bad, as it does once it has started. Also true if its API is unknown
 * or its address may not be read: the plan has said so.
 */
export async function answers(workshop: Pick<Workshop, 'open'>): Promise<boolean> {
  return (await answerOf(workshop)) === true
}

/** The same, or an error if this machine has no way to the service, so that nothing is known. */
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
 * Watches the answers while a running service is waited for, at most `patienceMs` long. Once this machine has had no
 * way to it for a while, throws that error, because more waiting would not help. `stands`: the state of the service, in
 * words for people.
 */
export function unseenWatch(patienceMs: number, stands: string): (answer: boolean | AdminError) => void {
  let until: number | null = null
  return (answer) => {
    // the way to a new pod may be missing for a moment
    until = answer instanceof AdminError ? (until ?? performance.now() + Math.min(unseenMs, patienceMs / 2)) : null
    if (answer instanceof AdminError && until !== null && performance.now() > until) throw notSeen(stands, answer)
  }
}

function notSeen(stands: string, error: AdminError): AdminError {
  const again = 'resume the run with --relay, or on a machine that can reach the cluster'
  return new AdminError(
    error.code,
    `${stands}, but this machine cannot tell whether the service answers: ${error.message}`,
    [again, ...error.suggestions],
    { cause: error, obstacle: error.obstacle },
  )
}

/** The error, with the last lines that the service printed if it ended instead of starting. */
export async function withLastWords(error: AdminError, { open }: Workshop): Promise<AdminError> {
  const service = await tolerant(open.service())
  const instances = service === null ? [] : ((await tolerant(service.health()))?.instances ?? [])
  const ended = instances.find((it) => it.ended !== null && (!it.isUp || it.isReady === false))
  const words = service && ended ? await tolerant(service.lastWords(ended.name)) : null
  const environment = words && service ? await tolerant(service.environment()) : null
  const ending = words ? endingIn(words.text, (line) => masked(line, environment)) : null
  if (!words || !ending) return error
  return new AdminError(
    error.code,
    `${error.message}; the service last printed: ${ending.lines.join(' / ')}`,
    [
      words.command,
      ...(ending.reason ? [command`testops-admin explain ${ending.reason.explain}`] : []),
      ...error.suggestions,
    ],
    { cause: error },
  )
}
