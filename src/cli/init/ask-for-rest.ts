import { AdminError } from '../../core/error.ts'
import type { Draft, Probe, ProbedPart } from '../../runtime/index.ts'
import type { Asker } from './ask.ts'
import { secretAt, withValue } from './flags.ts'
import type { Path } from './flags.ts'

interface Question {
  part: ProbedPart
  message: string
  path: Path
  /** of the password beside it */
  password: Path | null
}

const questions: readonly Question[] = [
  { part: 'api', message: 'Address of the web interface (empty: leave it out):', path: ['url'], password: null },
  { part: 'database', message: 'Address of the database, postgresql://user@host/database (empty: leave it out):', path: ['database', 'url'], password: ['database', 'password'] },
  { part: 'broker', message: 'Address of the broker, amqp://user@host (empty: leave it out):', path: ['broker', 'url'], password: ['broker', 'password'] },
  { part: 'sessions', message: 'Address of the session store, redis://host:6379/0 (empty: leave it out):', path: ['sessions', 'url'], password: ['sessions', 'password'] },
]

/** Asks for the parts of which nothing says where they are, and for the API token; the draft itself where nothing was answered. */
export async function askForRest(draft: Draft, probes: readonly Probe[], asker: Asker, directory: string): Promise<Draft> {
  let next = draft
  const missing = questions.filter(({ part }) => probes.some((it) => it.part === part && it.status === 'absent'))
  for (const { message, path, password } of missing) {
    const address = await asker.text(message, { problem: withoutPassword })
    if (address === '') continue
    next = withValue(next, path, address)
    if (password) next = await withSecret(next, password, 'Where its password is kept, env:NAME or file:PATH (empty: it has none):', asker, directory)
  }
  if (next.apiToken !== undefined) return next
  return withSecret(next, ['apiToken'], 'Where an API token is kept, env:NAME or file:PATH (empty: leave it out):', asker, directory)
}

async function withSecret(draft: Draft, path: Path, message: string, asker: Asker, directory: string): Promise<Draft> {
  const place = await asker.text(message, { problem: (answer) => problemOf(answer, directory) })
  return place === '' ? draft : withValue(draft, path, secretAt(place, 'the answer', directory))
}

function problemOf(answer: string, directory: string): string | null {
  try {
    if (answer !== '') secretAt(answer, 'the answer', directory)
    return null
  } catch (error) {
    if (error instanceof AdminError) return error.message
    throw error
  }
}

function withoutPassword(address: string): string | null {
  return /:\/\/[^/\s@:]*:[^/\s@]*@/.test(address) ? 'leave the password out: it is asked for next, and never written here' : null
}
