import { AdminError } from '../../core/error.ts'
import { backExchangePrefix } from '../../knowledge/broker.ts'
import { aheadOf } from '../../knowledge/held-queues.ts'
import type { ActionHandler, Workshop } from '../handler.ts'
import { keepExchanges } from './keep-exchanges.ts'
import { declaration, liveQueues } from './queues.ts'

export const deleteHeld: ActionHandler<'delete-held'> = {
  failpoints: ['deleted'],
  async isDone({ holding }, workshop) {
    const queues = await liveQueues(workshop)
    return all(holding).every((name) => !queues.has(name)) && (await leftExchanges(workshop)).length === 0
  },
  async standsAs({ holding }, workshop) {
    const queues = await liveQueues(workshop)
    return all(holding).some((name) => queues.has(name)) ? 'not-done' : 'done'
  },
  async perform({ holding }, workshop) {
    await deleteEmpty(all(holding), workshop)
    await workshop.failpoint('deleted')
  },
  async undo({ holding, vanishing = [] }, workshop) {
    await (await workshop.control.broker()).declareQueues(holding.map(declaration))
    await keepExchanges(vanishing, workshop)
  },
}

/** With those of an undo that went forward again. */
function all(holding: readonly string[]): string[] {
  return holding.flatMap((name) => [name, aheadOf(name)])
}

/** Throws INTERRUPTED where messages wait in one of them. */
export async function deleteEmpty(holding: readonly string[], { control, open }: Pick<Workshop, 'control' | 'open'>): Promise<void> {
  const broker = await control.broker()
  const there = await liveQueues({ open })
  for (const name of await leftExchanges({ open })) await broker.deleteExchange(name)
  const deleted = await broker.deleteQueues(holding.filter((name) => there.has(name)).map((name) => ({ name, most: 0 })))
  const full = holding.filter((name) => deleted.get(name) === 'in-use')
  if (full.length === 0) return
  throw new AdminError('INTERRUPTED', `queue ${full[0]} still holds messages, or is read by somebody, and is left alone`, [
    'testops-admin history -d {deployment}',
  ])
}

/** Through which messages went back when a run was killed; nobody else makes such, and one repair is at work at a time. */
async function leftExchanges({ open }: Pick<Workshop, 'open'>): Promise<string[]> {
  const exchanges = await (await open.broker()).exchanges()
  return exchanges.map(({ name }) => name).filter((name) => name.startsWith(backExchangePrefix))
}
