import { openApi, openApiControl } from '../../../src/adapters/api/index.ts'
import { Secret } from '../../../src/core/secret.ts'
import { shownAsJson } from '../reader.ts'
import type { Reader } from '../reader.ts'
import { answeringServer } from './http-answer.ts'
import { refusable } from './refusable.ts'

const claims = Buffer.from(JSON.stringify({ iat: 1_795_000_000, exp: 1_795_003_600, user_name: 'op' })).toString(
  'base64url',
)
const token = { access_token: `e30.${claims}.x`, token_type: 'bearer', expires_in: 3599, scope: 'openid' }

/** What the service answers: to the exchange of a token, to lists in pages, and with errors. */
export const serviceAnswers: Reader = {
  name: 'service API',
  syntax: 'json',
  seeds: [
    token,
    {
      content: [
        { id: 1, name: 'p1' },
        { id: 2, name: 'p2' },
      ],
      last: true,
      totalElements: 2,
      totalPages: 1,
      number: 0,
      size: 500,
    },
    [{ id: 1, name: 'p1' }],
    {
      content: [
        {
          id: 7,
          name: 'TREE',
          status: 'FINISHED',
          createdDate: 1_795_000_000_000,
          lastModifiedDate: '2026-11-21T02:12:44Z',
        },
      ],
      last: false,
    },
    { status: 'UP', components: { db: { status: 'UP' } } },
    { id: 1, username: 'op', roles: ['ROLE_ADMIN'] },
    {
      timestamp: '2026-11-21T02:12:44Z',
      status: 500,
      error: 'Internal Server Error',
      message: 'No message available',
      path: '/api',
    },
    { error: 'invalid_token', error_description: 'Token was not recognised' },
  ]
    .map((it) => JSON.stringify(it))
    .concat('<html><head><title>502 Bad Gateway</title><style>b{}</style></head><body><h1>502</h1></body></html>'),
  async open() {
    let served = 0
    const server = await answeringServer((request, response) => {
      const isHealth = request.url === '/api/management/health'
      const isExchange = request.url === '/api/uaa/oauth/token'
      // of three inputs two come behind a good token, else all would end at it
      if (!isHealth && !(isExchange && served % 3 !== 0)) return false
      response.setHeader('content-type', 'application/json').end(JSON.stringify(isHealth ? { status: 'UP' } : token))
      return true
    })
    const endpoint = { baseUrl: server.url, apiToken: new Secret('token-of-the-operator'), ca: null }
    // what may be asked for again is, until then
    const timeoutMs = 150
    return {
      async read(input) {
        server.answer(input)
        served += 1
        const { source, close } = await openApi(endpoint, { timeoutMs })
        try {
          const asks: readonly (() => Promise<unknown>)[] = [
            async () => source.accessToken(),
            async () => source.currentUser(),
            async () => source.projects(),
            async () => source.trees(1),
            async () => source.migrationJobs({ status: null, atMost: 100 }),
            async () => source.recognized(),
          ]
          await refusable(async () => shownAsJson((await asks[served % asks.length]!()) ?? null))
        } finally {
          await close()
        }
        if (served % 10 !== 0) return
        const control = await openApiControl(endpoint, { timeoutMs })
        const { signal } = new AbortController()
        try {
          await refusable(async () =>
            control.source.migrateTrees(
              { project: 1, tree: 2 },
              { signal, patienceMs: 1, again: async () => false, underway: () => undefined, waiting: () => undefined },
            ),
          )
        } finally {
          await control.close()
        }
      },
      close: server.close,
    }
  },
}
