import { Hono } from 'hono'
import type { Context } from 'hono'
import { job, jobs } from '../data/jobs.ts'
import { projectExists, projects, trees } from '../data/projects.ts'
import type { Tree, Window, Windowed } from '../data/projects.ts'
import { mayMigrateTrees } from '../data/users.ts'
import { authenticated } from './authentication.ts'
import type { RequestState, ServiceContext } from './context.ts'
import { springError } from './errors.ts'

/**
 * Serves projects, trees, their migration and its jobs (SPEC.md 4.3 and 4.4; FIELD-NOTES.md 7). The paths lack their
 * prefix.
 */
export function reportRoutes(context: ServiceContext): Hono<RequestState> {
  const { database } = context
  const app = new Hono<RequestState>()
  const signedIn = authenticated(context)
  const missing = (c: Context, what: string): Response => springError(c, context, 404, `${what} not found`)
  const forbidden = (c: Context): Response => springError(c, context, 403, 'Access is denied')
  const noNumber = (c: Context): Response =>
    springError(c, context, 400, 'Failed to convert value of type String to required type long')

  app.get('/project', signedIn, async (c) => {
    const window = windowOf(c, { size: 10, sort: 'name,ASC' })
    const member = c.req.query('my') === 'true' ? c.get('user').id : null
    const filter = { query: c.req.query('query') ?? '', member, favorite: c.req.query('favorite') === 'true' }
    return c.json(pageOf(window, await projects(database, filter, window)))
  })
  const treePage =
    (shown: (tree: Tree) => object) =>
    async (c: Context): Promise<Response> => {
      const asked = c.req.query('projectId')
      if (asked === undefined) return springError(c, context, 400, "Required parameter 'projectId' is not present.")
      const projectId = idIn(asked)
      if (projectId === null) return noNumber(c)
      if (!(await projectExists(database, projectId))) return missing(c, `Project ${projectId}`)
      const window = windowOf(c, { size: 10, sort: 'name,ASC' })
      const { rows, total } = await trees(database, projectId, window)
      return c.json(pageOf(window, { rows: rows.map(shown), total }))
    }
  app.get('/tree', signedIn, treePage(treeDto))
  app.get('/v2/tree', signedIn, treePage(treeDtoV2))

  app.get('/migration/job', signedIn, async (c) => {
    const window = windowOf(c, { size: 100, sort: 'name,ASC' })
    return c.json(pageOf(window, await jobs(database, c.req.query('status') ?? null, window)))
  })
  app.get('/migration/job/:jobId', signedIn, async (c) => {
    const id = idIn(c.req.param('jobId'))
    const found = id === null ? null : await job(database, id)
    if (!found) return missing(c, 'Job')
    const { context: reason, projectId: _, ...shown } = found
    // the step of a cancelled job counts as stopped
    const status = shown.status === 'CANCELLED' ? 'STOPPED' : shown.status
    const step = { ...shown, jobId: shown.id, name: 'load', status, context: reason === null ? {} : { error: reason } }
    return c.json({ ...shown, steps: [step] })
  })
  app.post('/migration/job/:jobId/cancel', signedIn, async (c) => {
    const id = idIn(c.req.param('jobId'))
    const found = id === null ? null : await job(database, id)
    if (!found) return missing(c, 'Job')
    // needs the role that may begin the job; the real service's rule is not documented
    if (!(await mayMigrateTrees(database, c.get('user'), found.projectId ?? 0))) return forbidden(c)
    await context.trees.cancel(found.id)
    return c.body(null, 202)
  })

  app.post('/project/test-case/tree/migration', signedIn, async (c) => {
    if (c.get('user').authority !== 'ROLE_ADMIN') return forbidden(c)
    await context.trees.begin({})
    return c.body(null, 202)
  })
  app.post('/project/:projectId/test-case/tree/migration', signedIn, async (c) => {
    const projectId = idIn(c.req.param('projectId'))
    if (projectId === null) return noNumber(c)
    if (!(await mayMigrateTrees(database, c.get('user'), projectId))) return forbidden(c)
    if (!(await projectExists(database, projectId))) return missing(c, `Project ${projectId}`)
    await context.trees.begin({ projectId })
    return c.body(null, 202)
  })
  app.post('/project/:projectId/test-case/tree/:treeId/migration', signedIn, async (c) => {
    const projectId = idIn(c.req.param('projectId'))
    const treeId = idIn(c.req.param('treeId'))
    if (projectId === null || treeId === null) return noNumber(c)
    if (!(await mayMigrateTrees(database, c.get('user'), projectId))) return forbidden(c)
    if ((await context.trees.begin({ projectId, treeId })) === 0) return missing(c, `Tree ${treeId}`)
    return c.body(null, 202)
  })
  return app
}

function idIn(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

/** A page of a list, as Spring Data writes it (FIELD-NOTES.md 7). */
interface Page<T> {
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

/** Spring Data's own limit of rows per page. */
const largestSize = 2000

/** Reads `page`, `size` and `sort` of a request: `sort=name,ASC`, once for each key. */
function windowOf(c: Context, defaults: { size: number; sort: string }): Window {
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

function pageOf<T>({ number, size, order }: Window, { rows, total }: Windowed<T>): Page<T> {
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

/** Returns the one field that a tree groups by, named like the tree. */
const groupsBy = ({
  id,
  name,
}: Tree): {
  id: number
  name: string
  archived: boolean
  locked: boolean
  required: boolean
  singleSelect: boolean
} => ({
  id,
  name,
  archived: false,
  locked: false,
  required: false,
  singleSelect: true,
})

/** Returns a tree in the form of `/api/tree` (report-service-extract.json: TreeDto). */
function treeDto(tree: Tree): object {
  const { id: _, name: __, projectId: ___, ...traces } = tree
  return { ...tree, fields: [{ ...groupsBy(tree), ...traces }] }
}

/** Returns a tree in the form of `/api/v2/tree` (TreeDtoV2). */
function treeDtoV2(tree: Tree): object {
  const { id, name, projectId } = tree
  return {
    id,
    name,
    projectId,
    customFieldsProject: [{ id, locked: false, required: false, customField: groupsBy(tree) }],
  }
}
