import { webSession } from '../../knowledge/web-session.ts'
import { bearerOf, client } from '../clients.ts'
import { labUser } from '../configuration.ts'
import type { Fault } from '../fault.ts'
import { startProxy } from '../reverse-proxy/control.ts'
import { startLabService, stopLabService, waitUntilServing } from '../service.ts'
import { withoutProxy } from './behind-proxy.ts'

const project = '/api/project?page=0&size=10'

export const restartBehindProxy: Fault = {
  id: 'restart-behind-proxy',
  kind: 'healthy',
  title: "a restart of the service shows in a reverse proxy's log",
  repair: 'nothing to do',
  cases: [
    {
      variant: null,
      made: 'a browser and a program with a Bearer token send requests through a reverse proxy while the service restarts',
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
