import { webSession } from '../../knowledge/sessions.ts'
import { onDatabase } from '../access/database.ts'
import { removeSessions } from '../access/sessions.ts'
import type { Changes } from '../changes.ts'
import { bearerOf, client } from '../clients.ts'
import { labUser } from '../configuration.ts'
import type { Expected, Fault } from '../fault.ts'
import { notInDrills } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { startProxy, stopProxy } from '../reverse-proxy/control.ts'
import { usualLimits } from '../reverse-proxy/orders.ts'
import { startLabService, stopLabService, waitUntilServing } from '../service.ts'

/** Removes the proxy in front of the service, and the sessions of users who came through it. */
export async function withoutProxy(lab: Lab): Promise<void> {
  await stopProxy(lab.layout)
  await removeSessions(lab)
}

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
  repair: 'raise the limit in the proxy (details: testops-admin explain api/proxy)',
  notInDrills: notInDrills.log,
  cases: [
    {
      variant: 'large',
      made:
        'a program uploads 2 MB through a reverse proxy that accepts at most ' +
        `${usualLimits.maxBodyBytes / 1_048_576} MB, which is nginx's default`,
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
      made:
        `the table of trees is locked for a while, and a reverse proxy waits only ${readTimeoutMs / 1000} s for ` +
        'an answer',
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
      made:
        "a reverse proxy accepts only small response headers, but the cookies of the service's main page make " +
        'its headers too large',
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

export const restartBehindProxy: Fault = {
  id: 'restart-behind-proxy',
  kind: 'healthy',
  title: "a reverse proxy's log shows that the service was restarted",
  repair: 'nothing to do',
  cases: [
    {
      variant: null,
      made:
        'a browser and a program with a Bearer token send requests through a reverse proxy while the service ' +
        'restarts',
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      changes: { declared: { accessLog: true } },
      needs: { serving: true },
      async apply(lab) {
        const proxy = await startProxy(lab)
        const call = client(proxy, 'practice-uploader/1.0')
        const browser = client(proxy, 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0')
        const ask = async (answered: number): Promise<void> => {
          for (let number = 0; number < 5; number += 1) await call({ path: project, headers, answered })
        }
        const headers = await bearerOf(call, labUser.apiToken)
        await browser({ path: webSession.loginPage, answered: 200 })
        await ask(200)
        await stopLabService(lab)
        await ask(502)
        await browser({ path: webSession.loginPage, answered: 502 })
        await startLabService(lab)
        await waitUntilServing(lab)
        Object.assign(headers, await bearerOf(call, labUser.apiToken))
        await ask(200)
      },
      revert: withoutProxy,
    },
  ],
}
