import { spawnSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import process, { env } from 'node:process'
import { accountsIn } from './accounts.ts'
import type { Accounts } from './accounts.ts'
import type { Circle } from './flaws.ts'
import { isReadOnlyAt } from './mounts.ts'

/**
 * Whom the user of this process trusts; null on a system without owners and modes, which is Windows. `sudo`: whether
 * the user who called sudo counts, too. On macOS lists of access rights are not looked at: they do not show in a mode
 * there.
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

/** The accounts of this machine; none where the files cannot be read. */
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
 * Node reads no lists of access rights; `ls` marks what has one by a sign behind its mode. Where it does not answer, or
 * is one of those that put no sign there (BusyBox, Toybox), there may be one.
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
