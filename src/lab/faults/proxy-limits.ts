import { onDatabase } from '../access/database.ts'
import { bearerOf, client } from '../clients.ts'
import { labUser } from '../configuration.ts'
import type { Changes } from '../changes.ts'
import type { Expected, Fault } from '../fault.ts'
import { startProxy } from '../reverse-proxy/control.ts'
import { usualLimits } from '../reverse-proxy/orders.ts'
import { withoutProxy } from './behind-proxy.ts'

const expected: Expected = { exitCode: 2, problems: { 'api/proxy': 'warning' }, allowedConsequences: [] }
const changes: Changes = { declared: { accessLog: true } }
const uploader = 'practice-uploader/1.0'
const times = 3
const project = '/api/project?page=0&size=10'
const readTimeoutMs = 3000

/** A made-up path, since the service's import path is not documented. The proxy refuses the call first. */
const upload = '/practice/upload'

export const proxyLimits: Fault = {
  id: 'proxy-limits',
  kind: 'fault',
  title: 'a reverse proxy rejects large or slow requests',
  repair: 'raise the limit in the proxy: testops-admin explain api/proxy',
  cases: [
    {
      variant: 'large',
      made: `a program uploads 2 MB through a reverse proxy that accepts ${usualLimits.maxBodyBytes / 1_048_576} MB, which is nginx's default`,
      expected,
      changes,
      needs: { serving: true },
      async apply(lab) {
        const call = client(await startProxy(lab), uploader)
        const headers = await bearerOf(call, labUser.apiToken)
        await call({ path: project, headers, answered: 200 })
        await call({ path: upload, method: 'POST', headers, body: 'x'.repeat(2_000_000), answered: 413 })
      },
      revert: withoutProxy,
    },
    {
      variant: 'slow',
      made: `the table of trees is locked for a while, and a reverse proxy waits only ${readTimeoutMs / 1000} s`,
      expected,
      changes,
      needs: { serving: true },
      async apply(lab) {
        const call = client(await startProxy(lab, { readTimeoutMs }), uploader)
        const headers = await bearerOf(call, labUser.apiToken)
        await onDatabase(lab, async (sql) => {
          await sql('BEGIN')
          await sql('LOCK TABLE tree IN ACCESS EXCLUSIVE MODE')
          for (let number = 0; number < times; number += 1) {
            await call({ path: project, headers, answered: 200 })
            await call({ path: '/api/tree?projectId=1', headers, answered: 504 })
          }
          await sql('ROLLBACK')
        })
        await call({ path: '/api/tree?projectId=1', headers, answered: 200 })
      },
      revert: withoutProxy,
    },
    {
      variant: 'head',
      made: 'a reverse proxy accepts only small answer headers, and the main page sets cookies',
      expected,
      changes,
      needs: { serving: true },
      async apply(lab) {
        const call = client(await startProxy(lab, { maxHeadBytes: 300 }), uploader)
        const headers = await bearerOf(call, labUser.apiToken)
        for (let number = 0; number < times; number += 1) {
          await call({ path: project, headers, answered: 200 })
          await call({ path: '/', answered: 502 })
        }
      },
      revert: withoutProxy,
    },
  ],
}
