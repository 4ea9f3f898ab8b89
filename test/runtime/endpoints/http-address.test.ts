import { expect, test } from 'vitest'
import { parseHttpAddress } from '../../../src/runtime/endpoints/addresses.ts'

test.each([
  ['https://testops.example.org', 'https://testops.example.org'],
  ['https://testops.example.org/base//', 'https://testops.example.org/base'],
  ['HTTPS://Testops.example.org:443/', 'https://testops.example.org'],
  ['http://[::1]:8080/a', 'http://[::1]:8080/a'],
])('%s', (address, read) => {
  expect(parseHttpAddress(address)).toBe(read)
})

const scheme = 'must begin with http:// or https://'
test.each([
  ['testops.example.org', `${scheme}, most likely https://testops.example.org`],
  ['testops.example.org/base/', `${scheme}, most likely https://testops.example.org/base/`],
  ['//testops.example.org', `${scheme}, most likely https://testops.example.org`],
  ['localhost:8080', `${scheme}, most likely https://localhost:8080`],
  ['10.0.0.1:8080/base', `${scheme}, most likely https://10.0.0.1:8080/base`],
  ['ftp://testops.example.org', scheme],
  ['user:password@testops.example.org', scheme],
  ['two words', scheme],
  ['', scheme],
  ['https://', scheme],
  ['https://testops.example.org:99999/base', 'has an invalid host or port'],
  ['http://user:password@testops example.org', 'has an invalid host or port'],
  ['https://user:password@testops.example.org', 'contains credentials; leave them out'],
  ['https://testops.example.org/?token=1', 'has a query or a fragment; leave it out'],
])('not "%s"', (address, message) => {
  expect(() => parseHttpAddress(address)).toThrow(new Error(message))
})
