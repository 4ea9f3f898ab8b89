import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { openCompose } from '../../../src/platforms/compose/index.ts'
import type { Platform } from '../../../src/platforms/platform.ts'

const run = promisify(execFile)

interface Project {
  platform: Platform
  remove: () => Promise<void>
}

export interface RealEngine {
  name: string
  /** a project of its own, whose service runs, or was stopped */
  project(composeFile: (image: string) => string, options: { running: boolean }): Promise<Project>
  /** takes away what all of them were made from */
  end(): Promise<void>
}

/**
 * The engine that answers here, with a compose program; null: there is none, and what was recorded on one stands for
 * it.
 */
export async function realEngine(): Promise<RealEngine | null> {
  const compose = await composeProgram()
  const answers = await run('docker', ['info', '--format', '{{.ServerVersion}}']).catch(() => null)
  if (compose === null || answers === null || answers.stdout.trim() === '') return null
  let image: Promise<string> | null = null
  return {
    name: `docker ${answers.stdout.trim()}`,
    async project(composeFile, { running }) {
      image ??= importImage()
      const name = `testops-admin-${randomBytes(4).toString('hex')}`
      const folder = await mkdtemp(join(tmpdir(), 'testops-admin-'))
      const file = join(folder, 'docker-compose.yml')
      await writeFile(file, composeFile(await image))
      const [program, ...words] = compose
      const ask = async (...rest: string[]): Promise<unknown> =>
        run(program, [...words, '-p', name, '-f', file, ...rest], { cwd: folder })
      await ask('up', '-d')
      if (!running) await ask('stop', '-t', '5')
      const options = { timeoutMs: 30_000, environment: process.env }
      const platform = await openCompose(
        { project: name, file: null, service: null, build: null, cpuinfo: null, folder: '/' },
        options,
      )
      return {
        platform,
        async remove() {
          await platform.close()
          await ask('down', '-t', '1')
          await rm(folder, { recursive: true, force: true })
        },
      }
    },
    async end() {
      if (image) await run('docker', ['rmi', await image])
    },
  }
}

async function composeProgram(): Promise<readonly [string, ...string[]] | null> {
  for (const command of [['docker', 'compose'], ['docker-compose']] as const) {
    const [program, ...words] = command
    if (await run(program, [...words, 'version']).catch(() => null)) return command
  }
  return null
}

/** An image of the product's name with a shell of this machine in it, that waits until it is told to end. */
async function importImage(): Promise<string> {
  const name = 'testops-admin.invalid/test/testops:526u03'
  const root = await mkdtemp(join(tmpdir(), 'testops-admin-'))
  const programs = ['/bin/sh', '/bin/sleep', '/bin/cat', '/usr/bin/getent']
  const libraries = await Promise.all(
    programs.map(async (it) => [...(await run('ldd', [it])).stdout.matchAll(/(\/\S+) \(/g)].map(([, path]) => path!)),
  )
  for (const path of new Set([...programs, ...libraries.flat()])) {
    await mkdir(join(root, dirname(path)), { recursive: true })
    await copyFile(path, join(root, path))
  }
  await writeFile(join(root, 'wait.sh'), "trap 'exit 143' TERM\necho started\nwhile :; do sleep 0.1; done\n")
  const archive = `${root}.tar`
  await run('tar', ['-C', root, '-cf', archive, '.'])
  await run('docker', ['import', '--change', 'ENTRYPOINT ["/bin/sh", "/wait.sh"]', archive, name])
  await rm(archive)
  await rm(root, { recursive: true })
  return name
}
