import { expect, test } from 'vitest'
import { Secret } from '../../../src/core/secret.ts'
import { requireApiToken } from '../../../src/runtime/configuration/secrets.ts'
import type { SecretReference } from '../../../src/runtime/configuration/nodes.ts'
import { errorOf } from '../error-of.ts'

const reference: SecretReference = { form: 'env', variable: 'TESTOPS_TOKEN', at: 'testops-admin.yaml:4' }
const judged = async (token: string): Promise<string> =>
  errorOf((async () => requireApiToken(new Secret(token), reference))())

test.each(['6a1c7f58-3f0e-4a52-9d6c-0c5f6a1f0b01', 'a', 'eyJ.a.b', `it's`])('%s may be one', async (token) => {
  requireApiToken(new Secret(token), reference)
})

test.each([
  [' abcdef', 'begins with whitespace, which an API token never does'],
  ['abcdef ', 'ends with whitespace, which an API token never does'],
  ['\tabcdef\u00a0', 'begins and ends with whitespace, which an API token never does'],
  ['   ', 'contains only whitespace'],
  ['Bearer abcdef', 'begins with a word from an HTTP header: enter only the token itself'],
  ['Authorization: api-token abcdef', 'begins with a word from an HTTP header: enter only the token itself'],
  ['abc def', 'contains whitespace or a non-ASCII character, which an API token never contains'],
  ['ключ', 'contains whitespace or a non-ASCII character, which an API token never contains'],
  ['"abcdef"', 'is in quotes, and the quotes would count as part of the token'],
])('"%s" is none', async (token, why) => {
  expect(await judged(token)).toBe(
    `SECRET_MISSING: the secret at testops-admin.yaml:4 cannot be used: the environment variable TESTOPS_TOKEN ${why}`,
  )
})
