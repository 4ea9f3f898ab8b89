import process from 'node:process'
import { typed } from '../../core/shell-command.ts'
import type { ShellCommand } from '../../core/shell-command.ts'
import { accountsHere } from './circle.ts'
import type { Accounts } from './accounts.ts'
import type { Flaw } from './flaws.ts'

/** Says why a file or folder is not trusted: whose it is, who may write it, or which folder on the way. */
export function whyDistrusted(flaws: readonly Flaw[], accounts = accountsHere()): string {
  // the nearest to the file first
  const [first, ...others] = [...flaws].reverse().map((flaw) => sentence(flaw, accounts))
  const more = others.length > 1 ? ` (and ${others.length - 1} more)` : ''
  return `${[first, ...others.slice(0, 1)].join('; ')}${more}`
}

function sentence(flaw: Flaw, accounts: Accounts): string {
  if (flaw.why === 'replaced') return 'it was replaced while it was being opened'
  const what = nameOf(flaw)
  if (flaw.why === 'owner') return `${named(accounts.userName(flaw.uid), 'user', flaw.uid)} owns ${what}`
  const mode = `mode ${flaw.mode.toString(8).padStart(4, '0')}`
  if (flaw.why === 'everybody') return `every user may write ${what} (${mode})`
  if (flaw.why === 'list') return `an access list may let others write ${what} (${mode})`
  return `${named(accounts.groupName(flaw.gid), 'group', flaw.gid)} may write ${what} (${mode})`
}

function nameOf({ path, role }: Flaw): string {
  return role === 'target' ? 'it' : role === 'link' ? `the link ${path}` : `its folder ${path}`
}

function named(name: string | null, kind: 'user' | 'group', id: number): string {
  return name === null ? `${kind} ${id}` : `${kind} \`${name}\``
}

/**
 * Returns the commands that fix it. None if another user owns a folder on the way: that user can replace the file,
 * whatever its mode.
 */
export function mendsOf(flaws: readonly Flaw[], self = process.geteuid?.() ?? 0): ShellCommand[] {
  if (flaws.some((it) => it.why === 'replaced' || (it.why === 'owner' && it.role === 'folder'))) return []
  const taken = flaws.filter((it) => it.why === 'owner')
  const shut = flaws.flatMap((it) => (it.why === 'owner' || it.why === 'replaced' ? [] : [it]))
  // others need a shared folder: with the sticky bit, its contents are protected, and they may still write there
  const shared = shut.filter(
    (it) =>
      it.role === 'folder' &&
      it.uid === 0 &&
      it.why === 'everybody' &&
      (self !== 0 || /^\/(?:tmp|var\/tmp|dev\/shm)$/.test(it.path)),
  )
  const own = shut.filter((it) => !shared.includes(it))
  const sudo = (all: readonly Flaw[]): string[] =>
    self === 0 || all.every((it) => it.why !== 'owner' && 'uid' in it && it.uid === self) ? [] : ['sudo']
  return [
    ...(taken.length > 0 ? [typed([...sudo(taken), 'chown', '-h', String(self), ...taken.map(pathOf)])] : []),
    ...(own.length > 0 ? [typed([...sudo(own), 'chmod', 'go-w', ...own.map(pathOf)])] : []),
    ...(shared.length > 0 ? [typed([...sudo(shared), 'chmod', '+t', ...shared.map(pathOf)])] : []),
  ]
}

function pathOf({ path }: Flaw): string {
  return path
}
