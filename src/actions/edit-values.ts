import type { ActionOf } from '../core/action.ts'
import type { Compared } from '../core/controls.ts'
import { AdminError } from '../core/error.ts'
import type { ActionHandler, Workshop } from './handler.ts'

export const editValues: ActionHandler<'edit-values'> = {
  failpoints: ['written'],
  async isDone({ file, edits }, { open }) {
    const files = await open.files()
    const looks = await Promise.all(edits.map(async ({ path }) => files.look(file, path)))
    return edits.every(({ to }, index) => looks[index]!.text === to)
  },
  async perform(action, { control, failpoint }) {
    refuseIfChanged(action, await (await control.files()).apply(action.file, action.edits))
    await failpoint('written')
  },
  async askRights({ file, edits }, { control }) {
    await (await control.files()).try(file, edits)
  },
  async foresee(action, { control }) {
    refuseIfChanged(action, await (await control.files()).try(action.file, action.edits))
  },
  async undo(action, workshop) {
    const { control } = workshop
    if (await isOthers(action, workshop)) return
    refuseIfChanged(action, await (await control.files()).takeBack(action.file, action.edits))
  },
  async foreseeUndo(action, workshop) {
    const { control } = workshop
    if (await isOthers(action, workshop)) return
    refuseIfChanged(action, await (await control.files()).tryBack(action.file, action.edits))
  },
}

/** True if neither the journal nor the file shows the edit as done: then it is not ours to undo. */
async function isOthers({ file, edits }: ActionOf<'edit-values'>, { open, journal }: Workshop): Promise<boolean> {
  if (journal.performed) return false
  const files = await open.files()
  const looks = await Promise.all(edits.map(async ({ path }) => files.look(file, path)))
  return !edits.some(({ to }, index) => looks[index]!.text === to)
}

/** Throws REFUSED if the file has neither the old nor the new value. */
function refuseIfChanged({ file, edits }: ActionOf<'edit-values'>, compared: Compared): void {
  if (compared === 'set') return
  const what = edits.map(({ path }) => path.join('.')).join(', ')
  throw new AdminError(
    'REFUSED',
    `somebody else has changed ${what} in ${file}: the file has neither the old value nor the one that this run sets`,
    ['testops-admin history -d {deployment}'],
  )
}
