import { judgeClocks, refuseIfClocksDisagree } from '../domain/clocks.ts'
import { counted } from '../core/format.ts'
import { wanted } from '../domain/wanted.ts'
import type { ActionOf } from '../core/action.ts'
import { AdminError } from '../core/error.ts'
import type { Removal, SessionsControl } from '../core/controls.ts'
import type { SessionSelection } from '../core/sources.ts'
import type { ActionHandler, Workshop } from './handler.ts'

type Remove = ActionOf<'remove-sessions'>

/** Number of sessions that show whether there is an index of users */
const sampled = 100

export const removeSessions: ActionHandler<'remove-sessions'> = {
  failpoints: ['counted', 'removing', 'removed'],
  async isDone(action, workshop) {
    const { open } = workshop
    const control = await controlOf(action, workshop)
    const sessions = await open.sessions()
    if (action.which === 'stale') {
      const [database, api] = await Promise.all([wanted(open.database), wanted(open.api)])
      refuseIfClocksDisagree(await judgeClocks({ database, sessions, api }, workshop.deployment))
    }
    const census = await sessions.census(selectionOf(action))
    if (census.sessions + census.leftovers === 0) return true
    // refuses before the start what the store does not allow
    await control.assertRemovable({ namespace: action.namespace, indexed: census.indexed })
    return false
  },
  async askRights({ namespace }, { open, control }) {
    const sample = await (await open.sessions()).sampleSessions(sampled)
    const indexed = sample.namespace === namespace && sample.indexed
    await (await control.sessions()).assertRemovable({ namespace, indexed, onlyAsks: true })
  },
  async standsAs(action, workshop) {
    await controlOf(action, workshop)
    const census = await (await workshop.open.sessions()).census(selectionOf(action))
    return census.sessions + census.leftovers === 0 ? 'done' : 'not-done'
  },
  async perform(action, workshop) {
    const { failpoint, moving, progress, signal } = workshop
    const control = await controlOf(action, workshop)
    await failpoint('counted')
    const removal = await control.remove(selectionOf(action), {
      flush: action.flush,
      async onBatch(done, total) {
        moving({ done, total, unit: 'keys' })
        await failpoint('removing')
      },
      onRemoved: async () => failpoint('removed'),
      signal,
    })
    for (const line of said(removal)) progress(line)
  },
  // a removed session cannot be restored, and must not be saved: its id is a credential
  undo: null,
}

function selectionOf({ namespace, which, counts: { asOf } }: Remove): SessionSelection {
  return { namespace, which, asOf }
}

/**
 * The control of the session store. Throws REFUSED if the configuration now names another store; the sentinels may name
 * another master.
 */
async function controlOf({ store }: Remove, { control }: Workshop): Promise<SessionsControl> {
  const found = await control.sessions()
  if (lasting(found.target) === lasting(store)) return found
  throw new AdminError(
    'REFUSED',
    `the plan counted the sessions at ${store}, but the session store is now ${found.target}`,
  )
}

function lasting(target: string): string {
  return target.replace(/^.*(?=\(sentinel, )/, '')
}

function said({ counted: count, removed, notFlushed }: Removal): string[] {
  const why = notFlushed === null ? [] : [`removed the sessions one by one, because ${notFlushed}`]
  if (removed === null) return [`emptied the database: ${counted(count, 'session')}`]
  const ended = count > removed ? `; ${counted(count - removed, 'other')} had already ended` : ''
  return [...why, `removed ${counted(removed, 'session')}${ended}; all sessions found before the removal are gone`]
}
