import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { debianFiles } from '../support/debian-program.ts'
import { ended } from './made.ts'
import { chroot, keptApart, withOwnMounts } from './own-mounts.ts'

test('what is mounted in a folder of a chroot, which has no mount of its own, is not seen outside', async () => {
  const root = await mkdtemp(join(tmpdir(), 'testops-admin-chroot-'))
  onTestFinished(async () => rm(root, { recursive: true, force: true }))
  for (const path of ['bin', 'proc', 'kept', 'seen']) await mkdir(join(root, path))
  await copyFile(join(await debianFiles('busybox-static'), 'bin/busybox'), join(root, 'bin/busybox'))
  for (const name of ['sh', 'nsenter', 'mount', 'grep']) await symlink('busybox', join(root, 'bin', name))
  const own = `unshare --mount --propagation unchanged ${chroot} "${root}" /bin/sh -c`
  const shared = 'nsenter --mount=/proc/self/ns/mnt mount --make-rshared /'
  const script = [
    'set -e',
    keptApart,
    // as the mounts of a machine are
    `mount --make-rshared / 2>/dev/null || ${shared}`,
    `mount --rbind /proc "${root}/proc"`,
    `${own} "$APART"`,
    `${own} "$WITHOUT"`,
    `grep -o "${root}/[a-z]* " /proc/self/mountinfo | sort -u`,
  ].join('\n')
  const inside = (folder: string): string =>
    `set -e; mount -t tmpfs none /${folder}; grep -c " /${folder} " /proc/mounts`
  const { stdout, stderr } = await ended([...withOwnMounts, 'sh', '-c', script], {
    env: {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      APART: `${keptApart}\n${inside('kept')}`,
      WITHOUT: inside('seen'),
    },
  })
  expect(stdout.trim().split(/\s+/), stderr).toEqual(['1', '1', `${root}/proc`, `${root}/seen`])
})
