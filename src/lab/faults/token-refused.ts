import { onDatabase } from '../access/database.ts'
import { labUser } from '../configuration.ts'
import type { Fault } from '../fault.ts'
import { hashToken } from '../practice-service/data/credentials.ts'

const hash = hashToken(labUser.apiToken)

export const tokenRefused: Fault = {
  id: 'token-refused',
  kind: 'fault',
  title: 'the API token is not accepted',
  repair: 'make a new API token in the user menu and configure it',
  cases: [
    {
      variant: null,
      made: 'the API token in the configuration has been deleted in the user menu',
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
