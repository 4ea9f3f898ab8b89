import { Hono } from 'hono'
import type { Context } from 'hono'
import { job, jobs } from '../data/jobs.ts'
import { projectExists, projects, trees } from '../data/projects.ts'
import { mayMigrateTrees } from '../data/users.ts'
import { authenticated } from './authentication.ts'
import type { RequestState, ServiceContext } from './context.ts'
import { springError } from './errors.ts'
import { pageOf } from './page.ts'

/** Projects, trees, their migration and its jobs (SPEC.md 4.3 and 4.4; FIELD-NOTES.md 7). */
export function reportRoutes(context: ServiceContext): Hono<RequestState> {
  const { database } = context
  const app = new Hono<RequestState>()
  const signedIn = authenticated(context)
  const missing = (c: Context, what: string): Response => springError(c, context, 404, `${what} not found`)
  const forbidden = (c: Context): Response => springError(c, context, 403, 'Access is denied')

  app.get('/api/project', signedIn, async (c) => {
    const query = (c.req.query('query') ?? '').toLowerCase()
    const found = (await projects(database)).filter(({ name }) => name.toLowerCase().includes(query))
    return c.json(pageOf(c, found, { size: 10, sort: 'name,ASC' }))
  })
  const treePage = async (c: Context): Promise<Response> => {
    const projectId = idIn(c.req.query('projectId') ?? '')
    if (projectId === null) return springError(c, context, 400, "Required parameter 'projectId' is not present.")
    if (!(await projectExists(database, projectId))) return missing(c, `Project ${projectId}`)
    return c.json(pageOf(c, await trees(database, projectId), { size: 10, sort: 'name,ASC' }))
  }
  app.get('/api/tree', signedIn, treePage)
  app.get('/api/v2/tree', signedIn, treePage)

  app.get('/api/migration/job', signedIn, async (c) => {
    const found = (await jobs(database, c.req.query('status') ?? null)).map(({ context: _, ...shown }) => shown)
    return c.json(pageOf(c, found, { size: 100, sort: 'id,ASC' }))
  })
  app.get('/api/migration/job/:jobId', signedIn, async (c) => {
    const id = idIn(c.req.param('jobId'))
    const found = id === null ? null : await job(database, id)
    if (!found) return missing(c, 'Job')
    const { context: reason, ...shown } = found
    const status = shown.status === 'CANCELLED' ? 'STOPPED' : shown.status
    return c.json({
      ...shown,
      steps: [{ ...shown, jobId: shown.id, name: 'load', status, context: reason === null ? {} : { error: reason } }],
    })
  })

  const begin = async (c: Context, projectId: number | null, treeId: number | null): Promise<Response> => {
    const chosen = (await trees(database, projectId)).filter((tree) => treeId === null || tree.id === treeId)
    if (treeId !== null && chosen.length === 0) return missing(c, `Tree ${treeId}`)
    await context.trees.begin(chosen)
    return c.body(null, 202)
  }
  app.post('/api/project/test-case/tree/migration', signedIn, (c) =>
    c.get('user').authority === 'ROLE_ADMIN' ? begin(c, null, null) : forbidden(c),
  )
  app.post('/api/project/:projectId/test-case/tree/migration', signedIn, async (c) => {
    const projectId = idIn(c.req.param('projectId'))
    if (projectId === null) return springError(c, context, 400, 'Failed to convert value of type String to required type long')
    if (!(await mayMigrateTrees(database, c.get('user'), projectId))) return forbidden(c)
    return (await projectExists(database, projectId)) ? begin(c, projectId, null) : missing(c, `Project ${projectId}`)
  })
  app.post('/api/project/:projectId/test-case/tree/:treeId/migration', signedIn, async (c) => {
    const projectId = idIn(c.req.param('projectId'))
    const treeId = idIn(c.req.param('treeId'))
    if (projectId === null || treeId === null)
      return springError(c, context, 400, 'Failed to convert value of type String to required type long')
    if (!(await mayMigrateTrees(database, c.get('user'), projectId))) return forbidden(c)
    return begin(c, projectId, treeId)
  })
  return app
}

function idIn(text: string): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}
