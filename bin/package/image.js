// Builds the container image from the one file.
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyright } from './copyright.js'
import { Unable } from './unable.js'

/** Returns the engine that builds images here. Throws if none does. */
export function imageEngine() {
  const found = ['docker', 'podman'].find((it) => spawnSync(it, ['info'], { stdio: 'ignore' }).status === 0)
  if (!found) throw new Unable('--image needs a running docker, or podman: neither answers `docker info` here')
  return found
}

/** Builds the image, and returns its name. `notices`: the file of the licences of what the one file contains. */
export function buildImage({ engine, root, work, file, notices }) {
  const context = join(work, 'image')
  const tree = join(context, 'root')
  const documents = join(tree, 'usr/share/doc/testops-admin')
  for (const folder of [join(tree, 'usr/bin'), documents, join(tree, 'state')]) mkdirSync(folder, { recursive: true })
  copyFileSync(file, join(tree, 'usr/bin/testops-admin'))
  writeFileSync(join(documents, 'copyright'), copyright(root, notices))
  // whatever the umask: these folders are the image's own, too
  for (const path of ['', 'usr', 'usr/bin', 'usr/bin/testops-admin', 'usr/share', 'usr/share/doc'])
    chmodSync(join(tree, path), 0o755)
  chmodSync(documents, 0o755)
  chmodSync(join(documents, 'copyright'), 0o644)
  chmodSync(join(tree, 'state'), 0o1777)
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const name = `testops-admin:${version}`
  const dockerfile = join(root, 'bin/package/Dockerfile')
  const { status } = spawnSync(engine, ['build', '--file', dockerfile, '--tag', name, context], { stdio: 'inherit' })
  if (status !== 0) throw new Unable(`${engine} could not build the image`)
  return name
}
