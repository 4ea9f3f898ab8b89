import { webSession } from '../../knowledge/web-session.ts'
import { client } from '../clients.ts'
import type { Changes } from '../changes.ts'
import type { Fault } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { startProxy } from '../reverse-proxy/control.ts'
import { withoutProxy } from './behind-proxy.ts'

const identityProvider = 'https://sign-in.practice.invalid/'
const changes: Changes = { declared: { accessLog: true } }

/** Starts the proxy, then opens the main page and the local sign-in page as an administrator's browser does. */
async function open(lab: Lab, openPages: readonly string[], answered: number): Promise<void> {
  const browser = client(
    await startProxy(lab, { identityProvider, openPages }),
    'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
  )
  await browser({ path: '/', answered: 302 })
  for (let number = 0; number < 3; number += 1) await browser({ path: webSession.loginPage, answered })
}

export const adminSignin: Fault = {
  id: 'admin-signin',
  kind: 'fault',
  title: 'sign-in goes through an identity provider, so the built-in administrator cannot sign in',
  repair: `sign in at ${webSession.loginPage}, and let the proxy pass that page: testops-admin explain api/system-login`,
  cases: [
    {
      variant: 'hidden',
      made: `a reverse proxy redirects everyone without a session to an identity provider, even from ${webSession.loginPage}`,
      expected: { exitCode: 2, problems: { 'api/system-login': 'warning' }, allowedConsequences: [] },
      changes,
      needs: { serving: true },
      apply: (lab) => open(lab, [], 302),
      revert: withoutProxy,
    },
    {
      variant: 'open',
      made: `a reverse proxy redirects everyone without a session to an identity provider, except from ${webSession.loginPage}; doctor shows that address`,
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      changes,
      needs: { serving: true },
      apply: (lab) => open(lab, [webSession.loginPage], 200),
      revert: withoutProxy,
    },
  ],
}
