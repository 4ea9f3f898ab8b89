import { chmod, copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { debianFiles } from '../support/debian-program.ts'
import { ended } from './made.ts'
import { chroot, isRoot, keptApart, withOwnMounts } from './own-mounts.ts'
import type { Ended, HeldInput } from './made.ts'

/** A user that no machine knows. */
const stranger = 65_532

/** A root file system of Debian's C and C++ libraries alone. A folder of this machine can be shown in it. */
export interface BareRoot {
  run(
    command: readonly [string, ...string[]],
    options?: {
      /** Its whole environment */
      environment?: Readonly<Record<string, string>>
      /** Folders that are shown, under the same paths, and can be written if the user may */
      shown?: readonly string[]
      /** Runs as the stranger: another user than the files' owner, without root's rights */
      isStranger?: boolean
      input?: HeldInput
    },
  ): Promise<Ended>
  remove(): Promise<void>
}

/**
 * Makes an empty root: it has no shell, no Node, no /tmp, no home and no /etc, and is mounted read-only. /proc and
 * /dev/null are this machine's. `withShell`: /bin/sh, for a deployment's own commands.
 */
export async function bareRoot({ withShell = false } = {}): Promise<BareRoot> {
  const folder = await mkdtemp(join(tmpdir(), 'testops-admin-root-'))
  await chmod(folder, 0o755)
  const libraries = await debianFiles('libstdc++6')
  const script = [
    'set -e',
    'root=$1 shown=$2',
    'shift 2',
    keptApart,
    'mount --bind "$root" "$root"',
    // the folders have been made
    'for path in lib lib64 usr/lib; do if [ -e "$LIBRARIES/$path" ]; then',
    '  mount --bind "$LIBRARIES/$path" "$root/$path"; mount -o remount,bind,ro "$root/$path"; fi; done',
    'mount --rbind /proc "$root/proc"',
    'mount --bind /dev/null "$root/dev/null"',
    'IFS=:; for path in $shown; do mount --bind "$path" "$root$path"; done; unset IFS',
    'mount -o remount,bind,ro "$root"',
    'exec env -i "$@"',
  ].join('\n')
  for (const path of ['lib', 'lib64', 'usr/lib', 'proc', 'dev', 'bin'])
    await mkdir(join(folder, path), { recursive: true })
  await writeFile(join(folder, 'dev/null'), '')
  if (withShell) {
    await copyFile(join(await debianFiles('busybox-static'), 'bin/busybox'), join(folder, 'bin/busybox'))
    for (const name of ['sh', 'cat', 'grep']) await symlink('busybox', join(folder, 'bin', name))
  }
  return {
    async run(command, { environment = {}, shown = [], isStranger = false, input } = {}) {
      const folders = [dirname(command[0]), ...shown]
      for (const path of folders) await mkdir(join(folder, path), { recursive: true })
      const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
      const user = isStranger && isRoot ? [`--userspec=${stranger}:${stranger}`] : []
      const words = ['sh', '-c', script, 'sh', folder, folders.join(':'), ...variables]
      return ended([...withOwnMounts, ...words, chroot, ...user, folder, ...command], {
        env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LIBRARIES: libraries },
        input,
      })
    },
    remove: async () => rm(folder, { recursive: true, force: true }),
  }
}
