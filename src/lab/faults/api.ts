import { apiUse } from '../../knowledge/api.ts'
import { defaultVendor, settingNames } from '../../knowledge/settings.ts'
import { webSession } from '../../knowledge/sessions.ts'
import { onDatabase } from '../access/database.ts'
import type { Changes } from '../changes.ts'
import { client } from '../clients.ts'
import { labUser } from '../configuration.ts'
import { setMachine } from '../control.ts'
import type { Fault } from '../fault.ts'
import { nothing, notInDrills } from '../fault.ts'
import type { Lab } from '../lab.ts'
import { hashToken } from '../practice-service/data/seeds.ts'
import { startProxy, stopProxy } from '../reverse-proxy/control.ts'
import { restartLabService, waitUntilServing } from '../service.ts'
import { withoutProxy } from './proxy.ts'

const delayMs = 1200

export const apiSlow: Fault = {
  id: 'api-slow',
  kind: 'fault',
  title: 'the service is slow to answer',
  repair: 'find out what keeps the service busy (details: testops-admin explain api/latency)',
  notInDrills: notInDrills.machine,
  cases: [
    {
      variant: null,
      made: `the service waits ${delayMs / 1000} s before each answer`,
      expected: { exitCode: 2, problems: { 'api/latency': 'warning' }, allowedConsequences: [] },
      changes: { machine: { responseDelayMs: delayMs } },
      needs: { serving: true },
      apply: (lab) => setMachine(lab, 'delay', delayMs),
      revert: nothing,
    },
  ],
}

const calls = 30

export const apiTokenDirect: Fault = {
  id: 'api-token-direct',
  kind: 'fault',
  title: 'a program sends its API token with every call, instead of a Bearer token',
  repair: 'make the program exchange the API token for a Bearer token (details: testops-admin explain api/token-use)',
  notInDrills: notInDrills.log,
  cases: [
    {
      variant: null,
      made:
        `a program makes ${calls} calls with its API token instead of a Bearer token, through a reverse proxy ` +
        'that logs the authorization scheme',
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

const { tokenValiditySeconds } = settingNames(defaultVendor)
/** Times in a token are whole seconds, so a one-second token may have expired when it is issued. */
const lifeSeconds = 2

export const tokenExpired: Fault = {
  id: 'token-expired',
  kind: 'healthy',
  title: 'Bearer tokens expire while in use',
  repair: 'nothing to do: each program renews its expired Bearer token itself',
  cases: [
    {
      variant: null,
      made:
        `${tokenValiditySeconds} is set to ${lifeSeconds}, and the service is restarted, so that Bearer tokens ` +
        `expire after ${lifeSeconds} s`,
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      changes: { environment: { [tokenValiditySeconds]: String(lifeSeconds) } },
      needs: { serving: true },
      async apply(lab) {
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: nothing,
    },
  ],
}

export const tokenLifetime: Fault = {
  id: 'token-lifetime',
  kind: 'fault',
  title: 'Bearer tokens expire earlier or later than the settings say',
  repair:
    'if the setting is wrong, testops-admin set-env --token-lifetime SECONDS; if it is right, testops-admin ' +
    'service restart',
  cases: [
    {
      variant: null,
      made:
        `${tokenValiditySeconds} is set to 7200 in the settings, but the service has not been restarted since, ` +
        'so it does not use the new value yet',
      expected: {
        exitCode: 2,
        problems: { 'service/settings': 'warning', 'api/token-lifetime': 'warning' },
        allowedConsequences: [],
      },
      repairedBy: ['set-env', '--token-lifetime', '3600'],
      changes: { environment: { [tokenValiditySeconds]: '7200' } },
      apply: nothing,
      revert: nothing,
    },
  ],
}

const hash = hashToken(labUser.apiToken)

export const tokenRefused: Fault = {
  id: 'token-refused',
  kind: 'fault',
  title: 'the API token is not accepted',
  repair:
    'create a new API token in the user menu of the service, and store it where `apiToken` in the configuration points',
  notInDrills: notInDrills.accounts,
  cases: [
    {
      variant: null,
      made:
        "the configured API token is deleted from the service's database, as if a user had deleted it in the user " +
        'menu',
      expected: {
        exitCode: 1,
        problems: { 'api/token': 'error' },
        allowedConsequences: ['api/roles', 'api/token-lifetime', 'trees/migrated'],
      },
      async apply(lab) {
        await onDatabase(lab, (sql) => sql('DELETE FROM api_token WHERE token_hash = $1', [hash]))
      },
      async revert(lab) {
        const values = [labUser.id, 'practice', hash]
        await onDatabase(lab, (sql) =>
          sql(
            'INSERT INTO api_token (user_id, name, token_hash) VALUES ($1, $2, $3) ON CONFLICT (token_hash) DO NOTHING',
            values,
          ),
        )
      },
    },
  ],
}

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
  repair:
    `let the proxy pass requests for ${webSession.loginPage} to the service, and sign in on that page ` +
    '(details: testops-admin explain api/system-login)',
  notInDrills: notInDrills.log,
  cases: [
    {
      variant: 'hidden',
      made:
        'a reverse proxy redirects every request without a session to an identity provider, even requests for ' +
        `${webSession.loginPage}`,
      expected: { exitCode: 2, problems: { 'api/system-login': 'warning' }, allowedConsequences: [] },
      changes,
      needs: { serving: true },
      apply: (lab) => open(lab, [], 302),
      revert: withoutProxy,
    },
    {
      variant: 'open',
      made:
        'a reverse proxy redirects every request without a session to an identity provider, except requests for ' +
        `${webSession.loginPage} (\`doctor\` shows the full address of this page)`,
      expected: { exitCode: 0, problems: {}, allowedConsequences: [] },
      changes,
      needs: { serving: true },
      apply: (lab) => open(lab, [webSession.loginPage], 200),
      revert: withoutProxy,
    },
  ],
}

const build = '524u02'

async function giveRole(lab: Lab, role: string): Promise<void> {
  await onDatabase(lab, (sql) => sql('UPDATE user_account SET authority = $1 WHERE id = $2', [role, labUser.id]))
}

export const noMigrationRole: Fault = {
  id: 'no-migration-role',
  kind: 'fault',
  title: "the API token's user has no permission to migrate trees",
  repair: 'use the API token of an administrator',
  notInDrills: notInDrills.accounts,
  cases: [
    {
      variant: null,
      made: `build ${build}, which migrates trees, is running, but the API token's user is not an administrator`,
      expected: { exitCode: 2, problems: { 'api/roles': 'warning' }, allowedConsequences: [] },
      changes: { declared: { image: `registry.example.org/testops/testops:${build}`, build }, machine: { build } },
      needs: { serving: true },
      async apply(lab) {
        await giveRole(lab, 'ROLE_USER')
        await restartLabService(lab)
        await waitUntilServing(lab)
      },
      revert: (lab) => giveRole(lab, labUser.role),
    },
  ],
}
