// Builds the container image from the one file.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Unable } from './unable.js'

/** Returns the engine that builds images here. Throws if none does. */
export function imageEngine() {
  const found = ['docker', 'podman'].find((it) => spawnSync(it, ['info'], { stdio: 'ignore' }).status === 0)
  if (!found) throw new Unable('--image needs a running docker, or podman: neither answers `docker info` here')
  return found
}

/** Builds the image, and returns its name. */
export function buildImage({ engine, root, work, file }) {
  const context = join(work, 'image')
  mkdirSync(context)
  copyFileSync(file, join(context, 'testops-admin'))
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const name = `testops-admin:${version}`
  const dockerfile = join(root, 'bin/package/Dockerfile')
  const { status } = spawnSync(engine, ['build', '--file', dockerfile, '--tag', name, context], { stdio: 'inherit' })
  if (status !== 0) throw new Unable(`${engine} could not build the image`)
  return name
}
