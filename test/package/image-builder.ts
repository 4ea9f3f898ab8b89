import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { debianFiles } from '../support/debian-program.ts'
import { ended } from './made.ts'
import { chroot, isRoot, keptApart, withOwnMounts } from './own-mounts.ts'

const systemPath = '/usr/sbin:/usr/bin:/sbin:/bin'

/** An image, as it lies unpacked on this machine. */
export interface BuiltImage {
  /** Its root file system */
  tree: string
  config: {
    User: string
    Env: readonly string[]
    Entrypoint: readonly [string, ...string[]]
    WorkingDir: string
  }
}

/** A program that builds images as docker and podman do, without a daemon, a network or a machine's own settings. */
export interface ImageBuilder {
  /** Takes the words of `docker build` */
  engine: string
  /** Returns the image of that name. */
  image(name: string): Promise<BuiltImage>
}

/**
 * Unpacks Debian's buildah into `folder`, and makes the image that Dockerfiles begin with: the name of Debian's, and of
 * its files the C and C++ libraries. `shown`: folders that it can read.
 */
export async function imageBuilder(folder: string, shown: readonly string[]): Promise<ImageBuilder> {
  const [root, work, engine] = [join(folder, 'root'), join(folder, 'work'), join(folder, 'engine')]
  for (const packageName of ['buildah', 'libselinux1']) await copied(await debianFiles(packageName), root)
  for (const path of ['proc', 'dev', 'sys', 'etc/containers', work, ...shown])
    await mkdir(join(root, path), { recursive: true })
  await mkdir(work)
  await writeFile(join(root, 'etc/passwd'), `root:x:0:0:root:${work}:/bin/sh\n`)
  await writeFile(join(root, 'etc/containers/policy.json'), '{"default": [{"type": "insecureAcceptAnything"}]}')
  const script = [
    '#!/bin/sh',
    `[ "$1" != inside ] && exec ${withOwnMounts.join(' ')} "$0" inside "$@"`,
    'shift',
    'set -e',
    keptApart,
    // buildah takes it for the root of a machine
    `mount --bind "${root}" "${root}"`,
    ...['/proc', '/dev', '/sys'].map((path) => `mount --rbind ${path} "${root}${path}"`),
    ...[work, ...shown].map((path) => `mount --bind "${path}" "${root}${path}"`),
    `exec env -i PATH=/usr/bin HOME="${work}" TMPDIR="${work}" ${chroot} "${root}" ` +
      `/usr/bin/buildah --root "${work}/images" --runroot "${work}/run" ` +
      `--storage-driver vfs --storage-opt vfs.ignore_chown_errors=true "$@" 2> "${work}/log"`,
  ].join('\n')
  await writeFile(engine, script)
  await chmod(engine, 0o755)
  const must = async (...words: string[]): Promise<string> => {
    const { stdout, exitCode } = await ended([engine, ...words], { env: { PATH: systemPath } })
    if (exitCode !== 0)
      throw new Error(`buildah ${words[0]} exited with ${exitCode}: ${await readFile(join(work, 'log'), 'utf8')}`)
    return stdout.trim()
  }

  await writeFile(join(work, 'Dockerfile'), 'FROM scratch\nCOPY . /\n')
  const base = join(work, 'base')
  await copied(await debianFiles('libstdc++6'), base)
  const name = 'docker.io/library/debian:stable-slim'
  await must('build', '--quiet', '--file', join(work, 'Dockerfile'), '--tag', name, base)
  return {
    engine,
    async image(wanted) {
      const { OCIv1 } = JSON.parse(await must('inspect', '--type', 'image', wanted)) as { OCIv1: { config: object } }
      const container = await must('from', '--pull=never', wanted)
      return { tree: await must('mount', container), config: OCIv1.config as BuiltImage['config'] }
    },
  }
}

/**
 * Runs an image as `docker run --read-only --network host -v SHOWN:/work:ro` does, but from its root folder. `user`:
 * another than the image's, as `--user`. Without root's rights, this machine's user is the only one.
 */
export async function runImage(
  { tree, config }: BuiltImage,
  words: readonly string[],
  { shown, user = config.User }: { shown: string; user?: string },
): ReturnType<typeof ended> {
  const script = [
    'set -e',
    'tree=$1 shown=$2',
    'shift 2',
    keptApart,
    'mount --bind "$tree" "$tree"',
    'mkdir -p "$tree/proc" "$tree/dev"',
    ': > "$tree/dev/null"',
    'mount --rbind /proc "$tree/proc"',
    'mount --bind /dev/null "$tree/dev/null"',
    'mount -o remount,bind,ro "$tree"',
    'mount --bind "$shown" "$tree/work"',
    'mount -o remount,bind,ro "$tree/work"',
    'exec env -i "$@"',
  ].join('\n')
  const userspec = isRoot ? [`--userspec=${user}`] : []
  const inside = [chroot, ...userspec, tree, ...config.Entrypoint, ...words]
  return ended([...withOwnMounts, ...['sh', '-c', script, 'sh', tree, shown, ...config.Env, ...inside]], {
    env: { PATH: systemPath },
  })
}

/** Copies a folder's content, which may be there in part already. */
async function copied(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  const { stderr, exitCode } = await ended(['cp', '--archive', '--no-preserve=ownership', `${from}/.`, to])
  if (exitCode !== 0) throw new Error(stderr)
}
