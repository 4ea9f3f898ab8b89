import type { Database } from '../database/pool.ts'
import { traceColumns, windowed } from './window.ts'
import type { Traces, Window, Windowed } from './window.ts'

export interface Project extends Traces {
  id: number
  name: string
  abbr: string
  isPublic: boolean
  favorite: boolean
  description: string
  descriptionHtml: string
}

export interface Tree extends Traces {
  id: number
  name: string
  projectId: number
}

export interface ProjectFilter {
  /** part of the name, in any case; empty: any name */
  query: string
  /** only projects where this user has a role; null: all projects */
  member: number | null
  favorite: boolean
}

const projectColumns = `id::int AS id, name, abbr, is_public AS "isPublic", description, description AS "descriptionHtml",
  FALSE AS favorite, ${traceColumns}`

/** Lists projects. Nobody has favourites here. */
export function projects(
  database: Database,
  { query, member, favorite }: ProjectFilter,
  window: Window,
): Promise<Windowed<Project>> {
  const from = `project WHERE strpos(lower(name), lower($1)) > 0 AND NOT $3::boolean
    AND ($2::bigint IS NULL OR EXISTS (SELECT 1 FROM project_role r WHERE r.project_id = project.id AND r.user_id = $2))`
  const sortable = {
    id: 'id',
    name: 'name',
    abbr: 'abbr',
    createdDate: 'created_date',
    lastModifiedDate: 'last_modified_date',
  }
  return windowed(
    database,
    { columns: projectColumns, from, values: [query, member, favorite], sortable, id: 'id' },
    window,
  )
}

export async function projectExists(database: Database, id: number): Promise<boolean> {
  return (await database.query('SELECT 1 FROM project WHERE id = $1', [id])).length > 0
}

export function trees(database: Database, projectId: number, window: Window): Promise<Windowed<Tree>> {
  const columns = `id::int AS id, name, project_id::int AS "projectId", ${traceColumns}`
  const sortable = { id: 'id', name: 'name', createdDate: 'created_date', lastModifiedDate: 'last_modified_date' }
  return windowed(
    database,
    { columns, from: 'tree WHERE project_id = $1', values: [projectId], sortable, id: 'id' },
    window,
  )
}
