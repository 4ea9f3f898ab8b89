import { AdminError } from '../core/error.ts'
import { Secret } from '../core/secret.ts'
import type { ActionOf } from '../core/action.ts'
import type { Compared, Traces } from '../core/controls.ts'
import type { ActionHandler, Workshop } from './handler.ts'
import { giveUpFields, ownsFields } from './handler.ts'

type Change = Omit<ActionOf<'set-setting'>, 'kind'>

export const setSetting: ActionHandler<'set-setting'> = {
  failpoints: ['written'],
  async isDone({ name, to }, workshop) {
    return (await valueOf(name, workshop)) === to && !(await ownsFields(workshop))
  },
  // owned fields may be those of a later step
  async standsAs({ name, to }, workshop) {
    return (await valueOf(name, workshop)) === to ? 'done' : 'not-done'
  },
  async perform(change, workshop) {
    await write(change, workshop, { note: async (text) => workshop.journal.note(text) })
    await workshop.failpoint('written')
    if ((await valueOf(change.name, workshop)) !== change.to) throw unread(change.name)
  },
  askRights: async (change, { control }) => (await control.service()).askRights?.(change),
  async foresee(change, { control }) {
    refuseIfChanged(change, await (await control.service()).trySetting(change))
  },
  async undo({ name, from, to }, workshop) {
    // after a kill before the write, nothing has changed
    if ((await valueOf(name, workshop)) === from) return giveUpFields(workshop)
    await write({ name, from: to, to: from }, workshop, { notes: workshop.journal.notes })
  },
}

async function write({ name, from, to }: Change, { control }: Workshop, traces: Traces): Promise<void> {
  refuseIfChanged({ name, from }, await (await control.service()).writeSetting({ name, from, to }, traces))
}

/** The error for a setting that was written but does not take effect, because another place overrides it. */
export function unread(name: string): AdminError {
  return new AdminError(
    'FAILED',
    `${name} was written, but the service's settings do not show the new value, because ${name} is also set ` +
      'somewhere else',
    ['{settings}', 'testops-admin history -d {deployment}'],
  )
}

/** Throws REFUSED if the setting has neither its former nor its new value. */
function refuseIfChanged({ name, from }: Pick<Change, 'name' | 'from'>, compared: Compared): void {
  if (compared === 'set') return
  throw new AdminError(
    'REFUSED',
    `somebody else has changed ${name} in the service's settings: ` +
      `${from === null ? 'it was not set before, but is now' : `it is no longer ${from}`}`,
    ['testops-admin doctor -d {deployment} --only broker'],
  )
}

async function valueOf(name: string, { open }: Workshop): Promise<string | null> {
  const value = (await (await open.service()).environment()).get(name)
  return value instanceof Secret ? value.reveal() : (value ?? null)
}
