import type { ActionOf } from '../core/action.ts'
import { AdminError } from '../core/error.ts'
import { fingerprint } from '../core/plan.ts'
import { Secret } from '../core/secret.ts'
import { typed } from '../core/typed.ts'
import { unread } from './set-setting.ts'
import type { ActionHandler, Workshop } from './handler.ts'
import { asPath } from '../core/shell-command.ts'

type Change = ActionOf<'set-secret'>

/**
 * Sets a secret setting. Plan and journal have only fingerprints; a resumed run reads the value from the file again.
 * The former value is kept in a file that only this user can read, beside the journal and never in the deployment's
 * copy: undo needs it, and nothing else has it. Undo empties that file.
 */
export const setSecret: ActionHandler<'set-secret'> = {
  failpoints: ['kept', 'written'],
  async isDone(change, workshop) {
    return fingerprint(await valueOf(change, workshop), change.salt) === change.to
  },
  async perform(change, workshop) {
    const current = await seen(change, workshop)
    const to = await wanted(change, workshop)
    if (current !== null && current !== to && !(await workshop.journal.keep(fileOf(change), current)))
      throw unkept(change)
    await workshop.failpoint('kept')
    await write(change, { from: current, to }, workshop)
    await workshop.failpoint('written')
    if (fingerprint(await valueOf(change, workshop), change.salt) !== change.to) throw unread(change.name)
  },
  async askRights(change, { open, control }) {
    const from = await valueOf(change, { open })
    // any other value needs the same rights as the wanted one, which is not read for this
    await (await control.service()).askRights?.({ name: change.name, from, to: from === 'a' ? 'b' : 'a' })
  },
  async foresee(change, workshop) {
    const { name } = change
    const [from, to] = [await seen(change, workshop), await wanted(change, workshop)]
    if ((await (await workshop.control.service()).trySetting({ name, from, to })) === 'changed') throw changed(change)
  },
  async undo(change, workshop) {
    const former = await formerOf(change, workshop)
    if (former === undefined) return
    await write(change, { from: await valueOf(change, workshop), to: former }, workshop)
    await workshop.journal.keep(fileOf(change), '')
  },
  async foreseeUndo(change, workshop) {
    await formerOf(change, workshop)
  },
}

/** The current value, which is the one seen or the one wanted. Throws REFUSED if it is neither. */
async function seen(change: Change, workshop: Workshop): Promise<string | null> {
  const current = await valueOf(change, workshop)
  const now = fingerprint(current, change.salt)
  if (now !== change.from && now !== change.to) throw changed(change)
  return current
}

/** The wanted value. Throws REFUSED if it is no longer available. */
async function wanted({ name, salt, to, file }: Change, { open, given }: Workshop): Promise<string | null> {
  if (to === null) return null
  const told = given.get(name) ?? (file === null ? null : await (await open.files()).secret(file))
  if (told === null) {
    throw new AdminError(
      'REFUSED',
      `the value of ${name} came from standard input and was not saved. This run can be undone, but not resumed`,
      ['testops-admin history -d {deployment}'],
    )
  }
  if (fingerprint(told.reveal(), salt) === to) return told.reveal()
  throw new AdminError(
    'REFUSED',
    `the value of ${name} ${file === null ? 'from standard input' : `in ${file}`} has changed since the plan was made`,
    file === null ? [] : [typed(['ls', '-l', asPath(file)])],
  )
}

/**
 * The former value to restore; undefined: nothing to undo. Throws REFUSED if somebody else changed it, or if it was
 * kept on another machine.
 */
async function formerOf(change: Change, workshop: Workshop): Promise<string | null | undefined> {
  const { name, salt, from, to } = change
  const now = fingerprint(await valueOf(change, workshop), salt)
  if (now === from) return undefined
  if (now !== to) {
    if (!workshop.journal.performed) return undefined
    throw changed(change)
  }
  if (from === null) return null
  const kept = await workshop.journal.kept(fileOf(change))
  if (kept !== null && fingerprint(kept, salt) === from) return kept
  throw new AdminError('REFUSED', `only the machine that started this run has the former value of ${name}`, [
    'testops-admin history -d {deployment}',
  ])
}

async function write(
  change: Change,
  { from, to }: { from: string | null; to: string | null },
  { control }: Workshop,
): Promise<void> {
  if ((await (await control.service()).writeSetting({ name: change.name, from, to })) === 'changed')
    throw changed(change)
}

function changed({ name }: Change): AdminError {
  return new AdminError('REFUSED', `somebody else has changed ${name} in the service's settings`, [
    'testops-admin history -d {deployment}',
  ])
}

function unkept({ name }: Change): AdminError {
  return new AdminError('UNAVAILABLE', `cannot save the former value of ${name}, which undo would need`, [
    'free up space on the disk that holds the state folder, or make the folder writable. Then resume the run ' +
      'with the same state folder',
  ])
}

function fileOf({ name }: Change): string {
  return `former-${name}`
}

async function valueOf({ name }: Change, { open }: Pick<Workshop, 'open'>): Promise<string | null> {
  const value = (await (await open.service()).environment()).get(name)
  return value instanceof Secret ? value.reveal() : (value ?? null)
}
