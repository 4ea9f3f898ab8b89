import { AdminError, codeOf, messageOf } from '../../core/error.ts'
import { isFilesBeforeAgent } from '../../knowledge/signatures.ts'
import { scanFile } from '../../logs/scan/scan-file.ts'
import type { Found } from '../problem.ts'
import { counted } from './said.ts'

/** What the log of an agent tells; one without its counts tells nothing. Throws AdminError where the file cannot be read, and the signal's reason. */
export async function filesBeforeAgent(log: string, signal?: AbortSignal): Promise<readonly Found[]> {
  const { causes } = await scanFile(log, { timeZone: null }, signal).catch((error: unknown) => {
    throw codeOf(error) === null ? error : unreadable(log, error)
  })
  // what was found of a part of it is no answer
  signal?.throwIfAborted()
  const cause = causes.find(({ id }) => id === 'agent-counts')
  return (cause?.agents ?? []).filter(isFilesBeforeAgent).map(({ indexed, errors }) => ({
    message: `the agent's log counts ${counted(indexed, 'file')} indexed, none processed, and ${counted(errors!, 'error')}`,
    ...(cause?.agents.length === 1 && { place: `line ${cause.firstLine}` }),
  }))
}

function unreadable(log: string, cause: unknown): AdminError {
  const code = codeOf(cause)
  const next = ['testops-admin lint-results DIR --agent-log FILE   # what the plugin or uploader printed']
  if (code === 'ENOENT' || code === 'ENOTDIR') return new AdminError('USAGE', `there is no file ${log}`, next, { cause })
  if (code === 'EISDIR') return new AdminError('USAGE', `${log} is a folder, and no log of an agent`, next, { cause })
  if (code === 'EACCES' || code === 'EPERM') return new AdminError('FORBIDDEN', `${log} may not be read by this user`, [], { cause })
  return new AdminError('UNREACHABLE', `${log} cannot be read: ${messageOf(cause)}`, [], { cause })
}
