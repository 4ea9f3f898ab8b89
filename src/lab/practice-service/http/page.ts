import type { Context } from 'hono'
import type { Window, Windowed } from '../data/window.ts'

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

/** Spring Data's own limit. */
const largestSize = 2000

/** Reads `page`, `size` and `sort` of a request: `sort=name,ASC`, once for each key. */
export function windowOf(c: Context, defaults: { size: number; sort: string }): Window {
  const count = (name: string, otherwise: number, least: number): number => {
    const value = Number(c.req.query(name) ?? otherwise)
    return Number.isInteger(value) && value >= least ? value : otherwise
  }
  return {
    number: count('page', 0, 0),
    size: Math.min(count('size', defaults.size, 1), largestSize),
    order: (c.req.queries('sort') ?? [defaults.sort]).flatMap(orderIn),
  }
}

export function pageOf<T>({ number, size, order }: Window, { rows, total }: Windowed<T>): Page<T> {
  const totalPages = Math.ceil(total / size)
  const sorted = order.length > 0
  const sort = { sorted, unsorted: !sorted, empty: !sorted }
  return {
    content: rows,
    pageable: { pageNumber: number, pageSize: size, offset: number * size, paged: true, unpaged: false, sort },
    totalElements: total,
    totalPages,
    number,
    size,
    numberOfElements: rows.length,
    first: number === 0,
    last: number >= totalPages - 1,
    empty: rows.length === 0,
    sort,
  }
}

function orderIn(text: string): Window['order'] {
  const words = text.split(',').filter(Boolean)
  const direction = /^(asc|desc)$/i.test(words.at(-1) ?? '') ? words.pop()! : 'ASC'
  return words.map((key) => ({ key, descending: direction.toUpperCase() === 'DESC' }))
}
