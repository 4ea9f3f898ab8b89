import { fstatSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import process from 'node:process'
import { AdminError } from '../../core/error.ts'
import type { ShellCommand, Suggestion } from '../../core/shell-command.ts'
import { command, nested } from '../../core/shell-command.ts'
import { typed } from '../../core/typed.ts'
import type { Accounts, Flaw } from './circle.ts'
import { accountsHere } from './circle.ts'
import type { Judgement } from './judge.ts'
import { judgeOpened, judgePath } from './judge.ts'

export interface FolderKind {
  /** Name in error messages: 'the state folder' */
  what: string
  /** Command that selects another folder */
  elsewhere: Suggestion
}

/** The folder of journals, locks and former secrets. */
const stateFolder: FolderKind = {
  what: 'the state folder',
  elsewhere: 'export XDG_STATE_HOME=DIRECTORY   # keeps the saved records of runs in another folder',
}

/**
 * Throws REFUSED for a folder of this program that another user owns, or that others may write: it is neither read nor
 * written. With `toWrite`, the folder may be created, so the way to it counts even if it is missing. Throws system
 * errors.
 */
export function assertOwnFolder(
  folder: string,
  { kind = stateFolder, toWrite = false }: { kind?: FolderKind; toWrite?: boolean } = {},
): void {
  const { place, flaws } = judgePath(folder)
  if (flaws.length > 0 && (place !== null || toWrite)) throw distrustedFolder(kind, folder, flaws)
}

/** Throws REFUSED if others could have written an open file of the state folder, by its descriptor. */
export function assertOwnFile(file: string, descriptor: number): void {
  if (!fstatSync(descriptor).isFile())
    throw new AdminError('REFUSED', `${file} is not trusted: it is not a regular file`, [typed(['ls', '-l', file])])
  const { flaws } = judgeOpened(file, descriptor)
  if (flaws.length > 0) throw distrustedFolder({ ...stateFolder, what: 'the file' }, file, flaws)
}

function distrustedFolder({ what, elsewhere }: FolderKind, path: string, flaws: readonly Flaw[]): AdminError {
  return new AdminError('REFUSED', `${what} ${path} is not trusted: ${whyDistrusted(flaws)}`, [
    ...mendsOf(flaws),
    elsewhere,
  ])
}

type Environment = Readonly<Record<string, string | undefined>>

/** Lists files that are trusted no matter who may write them. */
const variable = 'TESTOPS_ADMIN_TRUST'

/**
 * Returns the files that the operator trusts by name, without symbolic links: the absolute paths in
 * TESTOPS_ADMIN_TRUST, separated by colons. Ignores relative paths, which would mean another file in each folder.
 */
export async function trustedByName(environment: Environment): Promise<readonly string[]> {
  const named = (environment[variable] ?? '').split(':').filter(isAbsolute)
  return Promise.all(named.map(async (path) => realpath(path).catch(() => path)))
}

/** True if a file may decide what is done: only this user and root could have written it, or it is trusted by name. */
export function isTrusted({ place, flaws }: Judgement, byName: readonly string[]): boolean {
  return flaws.length === 0 || (place !== null && byName.includes(place))
}

/**
 * Returns the refusal of a file that others could have written. `shown` is its path in error messages; `what` is its
 * name, such as 'the configuration'.
 */
export function distrusted(
  what: string,
  shown: string,
  file: string,
  { flaws }: Judgement,
  environment: Environment,
): AdminError {
  const relative = (environment[variable] ?? '').split(':').filter((path) => path !== '' && !isAbsolute(path))
  const ignored = relative.length > 0 ? `; ${variable} accepts only absolute paths` : ''
  // a colon would split it in two
  const byName = file.includes(':')
    ? []
    : [command`export ${nested(variable)}=${file}   # first read the file: commands in the file run under your account`]
  return new AdminError('CONFIGURATION', `${what} ${shown} is not trusted: ${whyDistrusted(flaws)}${ignored}`, [
    ...mendsOf(flaws),
    ...byName,
  ])
}

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
  if (flaw.why === 'everybody') return `every user can write to ${what} (${mode})`
  if (flaw.why === 'list') return `an access control list (ACL) may let other users write to ${what} (${mode})`
  return `${named(accounts.groupName(flaw.gid), 'group', flaw.gid)} can write to ${what} (${mode})`
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
