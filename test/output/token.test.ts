import { describe, expect, test } from 'vitest'
import { Secret } from '../../src/core/secret.ts'
import { lifeText, tokenDocument } from '../../src/output/login.ts'
import { faultsOf } from './schemas.ts'

const expiresAt = new Date('2026-11-21T23:35:12.345Z')
const tokens = [
  {
    what: 'an hour',
    token: { token: new Secret('eyJ.a.b'), expiresInSeconds: 3599, expiresAt },
    document: {
      schemaVersion: 1,
      accessToken: 'eyJ.a.b',
      expiresAt: '2026-11-21T23:35:12.345Z',
      expiresInSeconds: 3599,
    },
    says: 'This token expires in 3,599 s, at 2026-11-21 23:35:12Z.',
  },
  {
    what: 'no more',
    token: { token: new Secret('eyJ.a.b'), expiresInSeconds: 0, expiresAt },
    document: { schemaVersion: 1, accessToken: 'eyJ.a.b', expiresAt: '2026-11-21T23:35:12.345Z', expiresInSeconds: 0 },
    says: 'The service says that this token has already expired, and will most likely refuse it.',
  },
  {
    what: 'nobody knows how long',
    token: { token: new Secret('opaque'), expiresInSeconds: null, expiresAt: null },
    document: { schemaVersion: 1, accessToken: 'opaque', expiresAt: null, expiresInSeconds: null },
    says: 'The service does not say how long this token is valid.',
  },
]

describe('a token that lives', () => {
  test.each(tokens)('$what', ({ token, document, says }) => {
    expect(tokenDocument(token)).toEqual(document)
    expect(faultsOf('token', tokenDocument(token))).toEqual([])
    expect(lifeText(token)).toBe(says)
  })
})

test('a document without a token is none', () => {
  expect(faultsOf('token', { schemaVersion: 1, accessToken: '', expiresAt: null, expiresInSeconds: null })).not.toEqual(
    [],
  )
  expect(faultsOf('token', { schemaVersion: 1, accessToken: 'a', expiresAt: null })).not.toEqual([])
})
