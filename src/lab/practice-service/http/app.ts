import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import type { RequestState, ServiceContext } from './context.ts'
import { logFailure, springError } from './errors.ts'
import { healthRoutes } from './health.ts'
import { loginRoutes } from './login.ts'
import { reportRoutes } from './report.ts'
import { uaaRoutes } from './uaa.ts'

/** Creates the app with everything that the service answers over HTTP. */
export function createApp(context: ServiceContext): Hono<RequestState> {
  const app = new Hono<RequestState>()
  app.use(async (c, next) => {
    await sleep(context.delayMs())
    await next()
    c.header('Date', new Date(context.clock.now()).toUTCString())
  })
  app.route('/', healthRoutes(context))
  app.route('/', uaaRoutes(context))
  // older clients use the second prefix (FIELD-NOTES.md 7)
  for (const prefix of ['/api', '/api/rs']) app.route(prefix, reportRoutes(context))
  app.route('/', loginRoutes(context))
  app.get('/swagger-ui.html', (c) =>
    c.html(
      '<!doctype html><title>Swagger UI</title><label>Select a definition ' +
        '<select><option>Report Service<option>UAA Service<option>All Services</select></label><div id="swagger-ui"></div>',
    ),
  )
  app.notFound((c) => springError(c, context, 404, 'No message available'))
  app.onError((error, c) => {
    logFailure(error, context)
    return springError(c, context, 500, 'Internal Server Error')
  })
  return app
}
