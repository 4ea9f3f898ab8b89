import { expect, test } from 'vitest'
import { namesOfMisnamed } from '../../src/adapters/tls.ts'

const failure = (cert: object | undefined, code = 'ERR_TLS_CERT_ALTNAME_INVALID'): Error =>
  Object.assign(new Error('x'), { code, cert })

test.each([
  [
    'names and addresses',
    failure({
      subjectaltname: 'DNS:a.example.org, DNS:*.b.example.org, IP Address:10.0.0.1, URI:spiffe://c',
      subject: { CN: 'd' },
    }),
    ['a.example.org', '*.b.example.org', '10.0.0.1'],
  ],
  ['a name with a comma in it', failure({ subjectaltname: 'DNS:"a, DNS:b", DNS:c' }), ['a, DNS:b', 'c']],
  ['no alternative names', failure({ subject: { CN: 'a.example.org' } }), ['a.example.org']],
  ['several common names', failure({ subjectaltname: '', subject: { CN: ['a', 'b'] } }), ['a', 'b']],
  ['no names at all', failure(undefined), []],
  ['the error as a cause', new Error('y', { cause: failure({ subjectaltname: 'DNS:a' }) }), ['a']],
  ['the error for each address', new AggregateError([failure({ subjectaltname: 'DNS:a' })]), ['a']],
  ['another error', failure({ subjectaltname: 'DNS:a' }, 'CERT_HAS_EXPIRED'), null],
  ['no error', 'x', null],
])('%s', (_, thrown, names) => {
  expect(namesOfMisnamed(thrown)).toEqual(names)
})
