import { expect, test } from 'vitest'
import { apiEndpoint } from '../../../src/runtime/parts/api.ts'
import { errorOf } from '../error-of.ts'
import { clear, situation } from './situation.ts'

const vendor = { prefix: 'ACME', package: 'ORG_ACME' }

test.each([
  [
    'url: https://testops.example.org/base/',
    {},
    { baseUrl: 'https://testops.example.org/base', apiToken: null, ca: null },
  ],
  [
    'apiToken: {env: PASSWORD}',
    { ACME_ENDPOINT: 'http://testops.example.org:8080/' },
    { baseUrl: 'http://testops.example.org:8080', apiToken: 'secret of-configuration', ca: null },
  ],
])('%s', async (lines, settings, expected) => {
  expect(clear(await apiEndpoint(await situation(lines, settings), vendor))).toEqual(expected)
})

test('none', async () => {
  expect(await errorOf(apiEndpoint(await situation('', { VENDOR_ENDPOINT: 'http://x' }), vendor))).toBe(
    "NOT_CONFIGURED: no address of the API is configured for `prod`: set `url` (the service's settings do not " +
      'contain this address)',
  )
})
