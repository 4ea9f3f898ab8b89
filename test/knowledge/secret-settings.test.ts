import { expect, test } from 'vitest'
import { isSecretSetting } from '../../src/knowledge/settings.ts'

test.each([
  ['SPRING_DATASOURCE_PASSWORD', true],
  ['VENDOR_LICENSE', true],
  ['LICENSE_STRING', true],
  ['LICENCE_DATA', true],
  ['LICENSE_KEY_BASE64', true],
  ['LICENSE_KEY_1', true],
  ['vendor.license.key', true],
  ['vendor.license', true],
  ['MY_PIN', true],
  ['PIN_NUMBER', true],
  ['user-pin', true],
  ['VENDOR_TOKEN_VALIDITY', false],
  ['LICENSE_SERVER', false],
  ['LICENSE_FILE', false],
  ['LICENSE_TYPE', false],
  ['LICENSED_USERS', false],
  ['SPINNING', false],
  ['MONKEY', false],
])('by its name, %s is secret: %s', (name, isSecret) => {
  expect(isSecretSetting(name, 'value')).toBe(isSecret)
})

test('an address is secret if it holds a password', () => {
  expect(isSecretSetting('DB_URL', 'postgres://user:planted@db/x')).toBe(true)
  expect(isSecretSetting('DB_URL', 'postgres://user@db/x')).toBe(false)
})
