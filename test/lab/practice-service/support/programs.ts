import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
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
  // they find each other where the package's name is
  await writeFile(join(output, 'package.json'), '{"name": "testops-admin", "type": "module"}')
  await build({
    entryPoints: {
      'lab/practice-service/main': join(source, 'lab/practice-service/main.ts'),
      'lab/service-control': join(source, 'lab/service-control.ts'),
    },
    outdir: join(output, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: { js: 'const require=process.getBuiltinModule;' },
    external: ['pg-native'],
    logLevel: 'warning',
  })
  return {
    service: join(output, 'dist/lab/practice-service/main.js'),
    control: join(output, 'dist/lab/service-control.js'),
    remove: () => rm(output, { recursive: true, force: true }),
  }
}
