import { DatabaseError } from 'pg'
import type { Database } from '../database/pool.ts'
import type { Log } from '../log/log.ts'

/** The requested part of a list. Unknown sort keys do not change the order. */
export interface Window {
  /** number of the page, from 0 */
  number: number
  size: number
  order: readonly { key: string; descending: boolean }[]
}

export interface Windowed<Row> {
  rows: Row[]
  /** number of rows in the whole list */
  total: number
}

interface List {
  columns: string
  /** tables and conditions, with $1 and so on for `values` */
  from: string
  values: readonly unknown[]
  /** allowed sort keys of the API, with their columns */
  sortable: Readonly<Record<string, string>>
  /** unique column, which keeps equal rows in the same order from page to page */
  id: string
}

/**
 * Reads one page of a list and counts all rows. The database sorts and cuts, so a long list costs no more than a short
 * one.
 */
export async function windowed<Row extends object>(
  database: Database,
  list: List,
  window: Window,
): Promise<Windowed<Row>> {
  const { columns, from, values, sortable, id } = list
  const order = window.order
    .filter(({ key }) => Object.hasOwn(sortable, key))
    .map(({ key, descending }) => `${sortable[key]!} ${descending ? 'DESC' : 'ASC'}`)
  const limits = `LIMIT ${window.size} OFFSET ${window.number * window.size}`
  const [rows, [count]] = await Promise.all([
    database.query<Row>(`SELECT ${columns} FROM ${from} ORDER BY ${[...order, id].join(', ')} ${limits}`, values),
    database.query<{ total: number }>(`SELECT count(*)::int AS total FROM ${from}`, values),
  ])
  return { rows, total: count!.total }
}

/** When a row was made and last changed, and by whom: times in epoch milliseconds. */
interface Traces {
  createdBy: string
  createdDate: number
  lastModifiedBy: string
  lastModifiedDate: number
}

export const dateColumns = ['created', 'last_modified']
  .map(
    (what) =>
      `round(extract(epoch FROM ${what}_date) * 1000)::float8 AS ` +
      `"${what === 'created' ? 'created' : 'lastModified'}Date"`,
  )
  .join(', ')

const traceColumns = `${dateColumns}, created_by AS "createdBy", last_modified_by AS "lastModifiedBy"`

interface Project extends Traces {
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

interface ProjectFilter {
  /** part of the name, in any case; empty: any name */
  query: string
  /** only projects where this user has a role; null: all projects */
  member: number | null
  favorite: boolean
}

const projectColumns = `id::int AS id, name, abbr, is_public AS "isPublic", description,
  description AS "descriptionHtml", FALSE AS favorite, ${traceColumns}`

/** Lists projects. Nobody has favourites here. */
export function projects(
  database: Database,
  { query, member, favorite }: ProjectFilter,
  window: Window,
): Promise<Windowed<Project>> {
  const from = `project WHERE strpos(lower(name), lower($1)) > 0 AND NOT $3::boolean
    AND ($2::bigint IS NULL
      OR EXISTS (SELECT 1 FROM project_role r WHERE r.project_id = project.id AND r.user_id = $2))`
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

/** The message that the web interface shows (SPEC.md 7). */
const conflict = 'Request failed with status code 409'
/** PostgreSQL's code for a row that already exists. */
const uniqueViolation = '23505'

/**
 * Imports results and moves test cases. The API's methods for this are not documented, so the lab uses its control
 * port.
 */
export interface TestCases {
  /**
   * imports results: makes a test case for each test that has none in the project; returns ids in the order of the
   * names
   */
  importResults(projectId: number, fullNames: readonly string[]): Promise<number[]>
  /** moves a test case; returns null, or the service's message if the project already holds an identical one */
  move(testCase: number, projectId: number): Promise<string | null>
}

export function testCases(database: Database, log: Log): TestCases {
  return {
    importResults: async (projectId, fullNames) => {
      await database.query(
        `INSERT INTO test_case (project_id, full_name) SELECT $1, name FROM unnest($2::text[]) name
         WHERE NOT EXISTS (SELECT 1 FROM test_case WHERE project_id = $1 AND full_name = name)`,
        [projectId, fullNames],
      )
      const found = await database.query<{ id: number }>(
        'SELECT id::int AS id FROM test_case WHERE project_id = $1 AND full_name = ANY($2) ORDER BY ' +
          'array_position($2, full_name)',
        [projectId, fullNames],
      )
      return found.map(({ id }) => id)
    },
    move: async (testCase, projectId) => {
      try {
        await database.query('UPDATE test_case SET project_id = $2 WHERE id = $1', [testCase, projectId])
        return null
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.code !== uniqueViolation) throw error
        log.from('nio-8080-exec-2').warn('vendor.report.testcase.TestCaseService', conflict)
        return conflict
      }
    },
  }
}
