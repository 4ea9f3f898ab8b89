import { onDatabase } from '../access/database.ts'
import type { Fault } from '../fault.ts'
import { waitForLog } from '../service.ts'

/** No name under .invalid ever resolves (RFC 6761). */
const host = 'tracker.practice.invalid'

export const unknownHost: Fault = {
  id: 'unknown-host',
  kind: 'fault',
  title: "an integration's host has no address",
  repair: "correct the host in the integration's settings, or make its name resolve",
  cases: [
    {
      variant: null,
      made: `an integration is set up with the address https://${host}`,
      expected: { exitCode: 1, problems: { 'integrations/reachable': 'error' }, allowedConsequences: [] },
      needs: { serving: true },
      async apply(lab) {
        await onDatabase(lab, (sql) =>
          sql('INSERT INTO integration (name, url) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
            'tracker',
            `https://${host}/rest/api/2/myself`,
          ]),
        )
        await waitForLog(lab, `UnknownHostException: ${host}`)
      },
      async revert(lab) {
        await onDatabase(lab, (sql) => sql('DELETE FROM integration WHERE name = $1', ['tracker']))
      },
    },
  ],
}
