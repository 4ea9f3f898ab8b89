import { existsSync } from 'node:fs'

/** If the tests run as root. */
export const isRoot = process.getuid?.() === 0

/** The program that runs a command in another root folder. */
export const chroot = ['/usr/sbin/chroot', '/sbin/chroot'].find((it) => existsSync(it)) ?? 'chroot'

/**
 * The words before a command that gets mounts of its own. `unshare` must not set the propagation itself: it fails where
 * the root folder is no mount point, as in a chroot. So the command's script begins with `keptApart`.
 */
export const withOwnMounts = [
  'unshare',
  ...(isRoot ? [] : ['--map-root-user']),
  ...['--mount', '--propagation', 'unchanged'],
] as const

/**
 * The lines of a shell script after which nothing that it mounts is seen outside. From within a chroot, the mount that
 * holds its root folder has no path: it is named from the root folder of all mounts, where `mount` has to be installed.
 * That needs /proc in the chroot.
 */
export const keptApart = [
  'mount --make-rprivate / 2>/dev/null || nsenter --mount=/proc/self/ns/mnt mount --make-rprivate / || {',
  '  echo "cannot keep the mounts of this test apart from those of the machine: run it outside of the chroot" >&2',
  '  exit 1',
  '}',
].join('\n')
