import type { ActionOf } from '../../core/action.ts'
import type { RunHistory } from '../../core/run.ts'
import type { SessionsSource } from '../../core/sources.ts'
import type { Comparison } from './comparison.ts'
import { stageOf } from './stages.ts'

type Removal = ActionOf<'remove-sessions'>

/** What of a removal of sessions is not meant for this deployment's store and key space; empty: nothing. */
export async function unfitSessions(action: Removal, history: RunHistory, { open }: Comparison): Promise<string[]> {
  const {
    store,
    which,
    flush,
    counts: { asOf },
  } = action
  const sessions = await open.sessions()
  if (lasting(sessions.target) !== lasting(store))
    return [`it removes sessions at ${store}, and this deployment keeps them at ${sessions.target}`]
  if (flush && which !== 'all') return ['it empties the whole database, and means only some of the sessions']
  const found = await sessions.census({ namespace: null, which: 'all', asOf: null })
  return [
    ...(await ofNamespace(action, history, { sessions, found })),
    ...(asOf <= found.asOf ? [] : ['it counted its sessions in the future']),
  ]
}

interface Store {
  sessions: SessionsSource
  /** of the key space that is configured, else of the only one that is there */
  found: Awaited<ReturnType<SessionsSource['census']>>
}

async function ofNamespace(
  { namespace, which, counts: { asOf } }: Removal,
  history: RunHistory,
  { sessions, found }: Store,
): Promise<string[]> {
  if (found.namespace !== null)
    return found.namespace === namespace
      ? []
      : [`it removes keys below ${namespace}, and the sessions are below ${found.namespace}`]
  if (found.rivals.length > 1)
    return [
      `it removes keys below ${namespace}, and several key spaces hold sessions: ${found.rivals.map((it) => it.namespace).join(', ')}`,
    ]
  // once they are removed, nothing shows any more where they were
  const isBegun = stageOf(history, 'remove-sessions').at !== 'before'
  const left = await sessions.census({ namespace, which, asOf })
  return isBegun && left.present + left.leftovers === 0
    ? []
    : [`it removes keys below ${namespace}, and nothing shows that the sessions were there`]
}

/** Which of the sentinels' masters it was may be another by now. */
function lasting(target: string): string {
  const at = target.indexOf('(sentinel, ')
  return at < 0 ? target : target.slice(at)
}
