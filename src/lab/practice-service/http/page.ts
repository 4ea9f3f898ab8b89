import type { Context } from 'hono'

/** Spring Data's page (FIELD-NOTES.md 7). */
export interface Page<T> {
  content: T[]
  totalElements: number
  totalPages: number
  number: number
  size: number
  numberOfElements: number
  first: boolean
  last: boolean
  empty: boolean
  pageable: { pageNumber: number; pageSize: number; offset: number; paged: true; unpaged: false; sort: Sort }
  sort: Sort
}

interface Sort {
  sorted: boolean
  unsorted: boolean
  empty: boolean
}

/** The part of `rows` that `page`, `size` and `sort` ask for. Unknown sort keys leave the order alone. */
export function pageOf<T extends object>(c: Context, rows: readonly T[], defaults: { size: number; sort: string }): Page<T> {
  const count = (name: string, otherwise: number, least: number): number => {
    const value = Number(c.req.query(name) ?? otherwise)
    return Number.isInteger(value) && value >= least ? value : otherwise
  }
  const number = count('page', 0, 0)
  const size = Math.min(count('size', defaults.size, 1), 2000)
  const content = sorted(rows, c.req.query('sort') ?? defaults.sort).slice(number * size, (number + 1) * size)
  const totalPages = Math.ceil(rows.length / size)
  const sort = { sorted: true, unsorted: false, empty: false }
  return {
    content,
    pageable: { pageNumber: number, pageSize: size, offset: number * size, paged: true, unpaged: false, sort },
    totalElements: rows.length,
    totalPages,
    number,
    size,
    numberOfElements: content.length,
    first: number === 0,
    last: number >= totalPages - 1,
    empty: content.length === 0,
    sort,
  }
}

function sorted<T extends object>(rows: readonly T[], order: string): T[] {
  const [key = '', direction = 'ASC'] = order.split(',')
  const sign = direction.toUpperCase() === 'DESC' ? -1 : 1
  const value = (row: T): unknown => (row as Record<string, unknown>)[key]
  return [...rows].sort((a, b) => sign * compare(value(a), value(b)))
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return typeof a === 'string' && typeof b === 'string' ? a.localeCompare(b) : 0
}
