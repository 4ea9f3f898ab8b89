import { endingIn, masked } from '../domain/last-words.ts'
import { tolerant } from '../domain/wanted.ts'
import { AdminError } from '../core/error.ts'
import type { Workshop } from './handler.ts'
import { command } from '../core/shell-command.ts'

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
    `${error.message}; it last printed: ${ending.lines.join(' / ')}`,
    [
      words.command,
      ...(ending.reason ? [command`testops-admin explain ${ending.reason.explain}`] : []),
      ...error.suggestions,
    ],
    { cause: error },
  )
}
