import { spawnSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import process from 'node:process'
import { env } from 'node:process'

/** The accounts of this machine, as /etc/passwd and /etc/group have them. */
export interface Accounts {
  /** Null if it is not listed there */
  userName: (uid: number) => string | null
  groupName: (gid: number) => string | null
  /**
   * True if the group is the user's own: its main one, of the same name, and with no other member (Debian's adduser,
   * login.defs USERGROUPS_ENAB)
   */
  isPrivateGroup: (gid: number, uid: number) => boolean
}

/** Reads both files' texts. Accounts that only a directory service has count as unknown. */
export function accountsIn(passwd: string, group: string): Accounts {
  const users = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .flatMap(([name, , uid, gid]) => (name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : []))
  const groups = group
    .split('\n')
    .map((line) => line.split(':'))
    .flatMap(([name, , gid, members = '']) =>
      name && gid ? [{ name, gid: Number(gid), members: members.split(',').filter(Boolean) }] : [],
    )
  return {
    userName: (uid) => users.find((it) => it.uid === uid)?.name ?? null,
    groupName: (gid) => groups.find((it) => it.gid === gid)?.name ?? null,
    isPrivateGroup(gid, uid) {
      const user = users.find((it) => it.uid === uid)
      const all = groups.filter((it) => it.gid === gid)
      if (user?.gid !== gid || all.length === 0) return false
      const isAlone = all.every(
        ({ name, members }) => name === user.name && members.every((member) => member === user.name),
      )
      return isAlone && users.every((it) => it.uid === uid || it.gid !== gid)
    },
  }
}

/**
 * Returns whom the user of this process trusts; null on Windows, which has no owners and modes. With `sudo`, the user
 * who called sudo counts too. On macOS, access lists are not examined: they do not show in a mode there.
 */
export function ownCircle({
  sudo = true,
  environment = env,
  uid = process.geteuid?.(),
}: {
  sudo?: boolean
  environment?: Readonly<Record<string, string | undefined>>
  uid?: number | undefined
} = {}): Circle | null {
  if (uid === undefined) return null
  const caller =
    uid === 0 && sudo && /^\d{1,10}$/.test(environment['SUDO_UID'] ?? '') ? [Number(environment['SUDO_UID'])] : []
  const owners = new Set([uid, 0, ...caller])
  let accounts: Accounts | null = null
  let mounts: string | null = null
  return {
    owners,
    isPrivate(gid) {
      const known = (accounts ??= accountsHere())
      return [...owners].some((owner) => known.isPrivateGroup(gid, owner))
    },
    hasList,
    isReadOnly: (path) => isReadOnlyAt(path, (mounts ??= textOf('/proc/self/mountinfo'))),
  }
}

/** Returns the accounts of this machine; none if the files cannot be read. */
export function accountsHere(): Accounts {
  return accountsIn(textOf('/etc/passwd'), textOf('/etc/group'))
}

function programOf(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/**
 * True if a path has, or may have, an access list. Node reads none; `ls` marks one by a sign after the mode. There may
 * be one if `ls` fails, or never puts a sign there (BusyBox, Toybox).
 */
function hasList(path: string): boolean {
  if (/box$/.test(programOf('/bin/ls'))) return true
  const { status, stdout } = spawnSync('/bin/ls', ['-ldn', '--', path], {
    encoding: 'latin1',
    env: { LC_ALL: 'C' },
    timeout: 2000,
  })
  return status !== 0 || /^\S{10}[+@]/.test(stdout)
}

interface Mount {
  device: string
  /** the part of its file system that is mounted */
  root: string
  at: string
  isReadOnly: boolean
}

/**
 * True if nobody who sees these mounts can write at a path without symbolic links. Its own mount is read-only, and no
 * writable one shows the same place. `mountinfo` is the text of /proc/self/mountinfo (proc(5)). Volumes of a pod that
 * hold a ConfigMap or a Secret are such mounts.
 */
export function isReadOnlyAt(path: string, mountinfo: string): boolean {
  const mounts = mountinfo.split('\n').flatMap(mountIn)
  const around = mounts.filter(({ at }) => isWithin(path, at))
  // of two at one place, the later one hides the other
  const own = around.reduce<Mount | null>(
    (best, mount) => (best === null || mount.at.length >= best.at.length ? mount : best),
    null,
  )
  if (!own?.isReadOnly) return false
  const place = joined(own.root, path.slice(own.at === '/' ? 0 : own.at.length))
  return mounts.every((it) => it.isReadOnly || it.device !== own.device || !isWithin(place, it.root))
}

function mountIn(line: string): Mount[] {
  const words = line.split(' ')
  const dash = words.indexOf('-', 6)
  const [, , device, root, at, options] = words
  if (dash < 0 || device === undefined || root === undefined || at === undefined || options === undefined) return []
  const isReadOnly = [options, words[dash + 3] ?? ''].some((it) => it.split(',').includes('ro'))
  return [{ device, root: plain(root), at: plain(at), isReadOnly }]
}

function isWithin(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`)
}

function joined(root: string, rest: string): string {
  return `${root === '/' ? '' : root}${rest}` || '/'
}

/** Decodes blanks, tabs, newlines and backslashes, which are written as three octal digits. */
function plain(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}

/** The facts about an entry of a file system that show who may change it. `judge.ts` asks the file system for them. */
export interface Entry {
  path: string
  /** `target`: the file or folder that is to be trusted; `folder`: one above it; `link`: a symbolic link on the way */
  role: 'target' | 'folder' | 'link'
  isFolder: boolean
  uid: number
  gid: number
  /** with the sticky bit */
  mode: number
}

/** Why an entry is not trusted: a flaw. */
export type Flaw = Pick<Entry, 'path' | 'role' | 'isFolder'> &
  (
    | { why: 'owner'; uid: number }
    | { why: 'everybody' | 'group' | 'list'; uid: number; gid: number; mode: number }
    | { why: 'replaced' }
  )

/** The users whom this user trusts. */
export interface Circle {
  /** this user, root, and under sudo the user who called it */
  owners: ReadonlySet<number>
  /** True if one of the owners is the only member of the group */
  isPrivate: (gid: number) => boolean
  /**
   * True if an access list stands beside the mode. Asked only if the group may write, since the group's bits are the
   * list's mask then
   */
  hasList: (path: string) => boolean
  /** True if nobody may write there, whatever the mode says */
  isReadOnly: (path: string) => boolean
}

const sticky = 0o1000

/**
 * Returns why others could have written a file or folder, or could replace what is in it; null if only the circle
 * could. In a sticky folder, such as /tmp, nobody moves another user's entry: there each entry is judged by its owner.
 */
export function flawOf(entry: Entry, { owners, isPrivate, hasList, isReadOnly }: Circle): Flaw | null {
  const { path, role, isFolder, uid, gid, mode } = entry
  const at = { path, role, isFolder }
  if (!owners.has(uid)) return { ...at, why: 'owner', uid }
  // the mode of a link means nothing
  if (role === 'link' || (role === 'folder' && (mode & sticky) !== 0)) return null
  const why = whoWrites()
  return why === null || isReadOnly(path) ? null : { ...at, why, uid, gid, mode: mode & 0o7777 }

  function whoWrites(): 'everybody' | 'group' | 'list' | null {
    if ((mode & 0o002) !== 0) return 'everybody'
    if ((mode & 0o020) === 0) return null
    if (!isPrivate(gid)) return 'group'
    return hasList(path) ? 'list' : null
  }
}
