import { spawnSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import process, { env } from 'node:process'
import { accountsIn } from './accounts.ts'
import type { Accounts } from './accounts.ts'
import type { Circle } from './flaws.ts'

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
