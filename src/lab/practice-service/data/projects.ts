import type { Database } from '../database/pool.ts'

export interface Project {
  id: number
  name: string
  abbr: string
  isPublic: boolean
}

export interface Tree {
  id: number
  name: string
  projectId: number
}

export function projects(database: Database): Promise<Project[]> {
  return database.query<Project>('SELECT id::int AS id, name, abbr, is_public AS "isPublic" FROM project')
}

export async function projectExists(database: Database, id: number): Promise<boolean> {
  return (await database.query('SELECT 1 FROM project WHERE id = $1', [id])).length > 0
}

/** Trees of one project, or of all. */
export function trees(database: Database, projectId: number | null): Promise<Tree[]> {
  return database.query<Tree>(
    `SELECT id::int AS id, name, project_id::int AS "projectId" FROM tree
     WHERE $1::bigint IS NULL OR project_id = $1 ORDER BY id`,
    [projectId],
  )
}

/** Trees whose data still has the old structure. */
export function unmigratedTrees(database: Database): Promise<Tree[]> {
  return database.query<Tree>(
    'SELECT id::int AS id, name, project_id::int AS "projectId" FROM tree WHERE NOT migrated ORDER BY id',
  )
}
