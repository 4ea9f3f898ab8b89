import { apiUse } from '../../knowledge/api-use.ts'
import { client } from '../clients.ts'
import { labUser } from '../configuration.ts'
import type { Fault } from '../fault.ts'
import { startProxy, stopProxy } from '../reverse-proxy/control.ts'

const calls = 30

export const apiTokenDirect: Fault = {
  id: 'api-token-direct',
  kind: 'fault',
  title: 'a program sends the API token itself with every call',
  repair: 'make the program exchange it for a Bearer token: testops-admin explain api/token-use',
  cases: [
    {
      variant: null,
      made: `a program makes ${calls} calls with the API token itself, through a reverse proxy that logs the authorization scheme`,
      expected: { exitCode: 2, problems: { 'api/token-use': 'warning' }, allowedConsequences: [] },
      changes: { declared: { accessLog: true } },
      needs: { serving: true },
      async apply(lab) {
        const call = client(await startProxy(lab), 'practice-mcp-server/1.0')
        const headers = { authorization: `${apiUse.apiToken} ${labUser.apiToken}` }
        for (let number = 0; number < calls; number += 1)
          await call({ path: '/api/project?page=0&size=10', headers, answered: 200 })
      },
      revert: async (lab) => void (await stopProxy(lab.layout)),
    },
  ],
}
