import { existsSync } from 'node:fs'

/** If the tests run as root. */
export const isRoot = process.getuid?.() === 0

/** The program that runs a command in another root folder. */
export const chroot = ['/usr/sbin/chroot', '/sbin/chroot'].find((it) => existsSync(it)) ?? 'chroot'

/**
 * The words before a command that gets mounts of its own. `unshare` is not left to keep them apart: it fails where the
 * root folder is no mount, as in a chroot. So the command's script begins with `keptApart`.
 */
export const withOwnMounts = [
  'unshare',
  ...(isRoot ? [] : ['--map-root-user']),
  ...['--mount', '--propagation', 'unchanged'],
] as const

/**
 * Returns the lines of a shell script after which nothing that it mounts is seen outside. `folder`: a word of the
 * script, in which it mounts.
 */
export function keptApart(folder: string): string {
  return [
    'mount --make-rprivate / 2>/dev/null || {',
    '  for at in $(cut -d " " -f 5 /proc/self/mountinfo); do mount --make-private "$at"; done',
    `  mount --make-private "$(stat -c %m ${folder})"`,
    '}',
  ].join('\n')
}
