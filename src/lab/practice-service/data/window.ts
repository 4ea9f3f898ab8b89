import type { Database } from '../database/pool.ts'

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
export interface Traces {
  createdBy: string
  createdDate: number
  lastModifiedBy: string
  lastModifiedDate: number
}

export const dateColumns = ['created', 'last_modified']
  .map(
    (what) =>
      `round(extract(epoch FROM ${what}_date) * 1000)::float8 AS "${what === 'created' ? 'created' : 'lastModified'}Date"`,
  )
  .join(', ')

export const traceColumns = `${dateColumns}, created_by AS "createdBy", last_modified_by AS "lastModifiedBy"`
