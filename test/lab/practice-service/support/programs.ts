import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const source = fileURLToPath(new URL('../../../../src', import.meta.url))
const root = join(source, '..')

export interface Programs {
  /** the practice service */
  service: string
  /** start, stop and status of it */
  control: string
  remove(): Promise<void>
}

/** Bundles both programs as the build does, so that tests run what stands in src and never a stale dist. */
export async function buildPrograms(): Promise<Programs> {
  // inside the project, where its package.json says that .js means a module
  // as processes show it, also where node_modules is a link
  const output = await realpath(await mkdtemp(join(root, 'node_modules', '.practice-service-')))
  await build({
    entryPoints: {
      'lab/practice-service/main': join(source, 'lab/practice-service/main.ts'),
      'lab/service-control': join(source, 'lab/service-control.ts'),
    },
    outdir: output,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: {
      js:
        "import {createRequire as __createRequire} from 'node:module';" +
        'const require=__createRequire(import.meta.url);',
    },
    external: ['pg-native'],
    logLevel: 'warning',
  })
  return {
    service: join(output, 'lab/practice-service/main.js'),
    control: join(output, 'lab/service-control.js'),
    remove: () => rm(output, { recursive: true, force: true }),
  }
}
