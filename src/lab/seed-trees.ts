import type { Sql } from './access/database.ts'

export interface SeededTrees {
  /** first and last id of the projects and of the trees; every number between is used */
  projects: { from: number; to: number }
  trees: { from: number; to: number }
}

/** First id of the seeded projects and trees; lower ids belong to the lab's own. */
const first = 1_000_001
const testCases = 3

/**
 * Fills the lab's database with many trees of the old structure, spread evenly over the projects; 10,000 take a second.
 * Use as `onDatabase(lab, (sql) => seedTrees(sql, …))`. Replaces earlier ones; needs no restart.
 */
export async function seedTrees(
  sql: Sql,
  { projects, trees }: { projects: number; trees: number },
): Promise<SeededTrees> {
  await removeSeededTrees(sql)
  const last = { project: first + projects - 1, tree: first + trees - 1 }
  await sql(
    `INSERT INTO project (id, name, abbr) SELECT id, format('Practice %s', id), format('P%s', id)
     FROM generate_series($1::bigint, $2::bigint) id`,
    [first, last.project],
  )
  await sql(
    `INSERT INTO tree (id, project_id, name) SELECT id, $1 + (id - $1) % $3, format('Tree %s', id)
     FROM generate_series($1::bigint, $2::bigint) id`,
    [first, last.tree, projects],
  )
  await sql(
    `INSERT INTO tree_data (tree_id, test_case_id, path)
     SELECT id, id * 100 + number, format('["Tree %s", "group %s"]', id, number)
     FROM generate_series($1::bigint, $2::bigint) id, generate_series(1, $3::int) number`,
    [first, last.tree, testCases],
  )
  return { projects: { from: first, to: last.project }, trees: { from: first, to: last.tree } }
}

/** Removes the seeded trees and the jobs that moved them. Harmless if there are none. */
export async function removeSeededTrees(sql: Sql): Promise<void> {
  for (const table of ['tree_node', 'tree_data', 'async_job'])
    await sql(`DELETE FROM ${table} WHERE tree_id >= $1`, [first])
  await sql('DELETE FROM tree WHERE id >= $1', [first])
  await sql('DELETE FROM project WHERE id >= $1', [first])
}
