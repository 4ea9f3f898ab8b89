// Writes many trees straight into the database of a lab that is up: node bench/seed-trees.js LAB-FOLDER PROJECTS TREES
import { fileURLToPath } from 'node:url'
import { fromSources } from './bundle.js'

const wanted = `export {onDatabase} from './src/lab/access/database.ts'
  export {openLab} from './src/lab/lab.ts'
  export {seedTrees} from './src/lab/seed-trees.ts'`

/**
 * Fills the lab in that folder, and replaces what was filled in before. Returns the ids: `{projects: {from, to}, trees:
 * {from, to}}`.
 */
export async function seedLabTrees(root, { projects, trees }) {
  const { onDatabase, openLab, seedTrees } = await fromSources(wanted)
  return onDatabase(await openLab({ root }), (sql) => seedTrees(sql, { projects, trees }))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [root, projects, trees] = process.argv.slice(2)
  console.log(JSON.stringify(await seedLabTrees(root, { projects: Number(projects), trees: Number(trees) })))
}
