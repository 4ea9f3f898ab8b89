import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configHome, labConfigurationFile, labDirectory, stateHome } from '../../src/runtime/index.ts'

test.each([
  [{ HOME: '/home/a' }, '/home/a/.config/testops-admin', '/home/a/.local/state/testops-admin'],
  [{ HOME: '/home/a', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' }, '/c/testops-admin', '/s/testops-admin'],
  [
    { HOME: '/home/a', XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: '' },
    '/home/a/.config/testops-admin',
    '/home/a/.local/state/testops-admin',
  ],
])('%j', (environment, config, state) => {
  expect(configHome(environment)).toBe(config)
  expect(stateHome(environment)).toBe(state)
  expect(labDirectory(environment)).toBe(`${state}/lab`)
})

test('the lab may lie elsewhere, also as seen from here', () => {
  expect(labDirectory({ TESTOPS_ADMIN_LAB_DIR: 'some/lab' })).toBe(join(process.cwd(), 'some/lab'))
  expect(labConfigurationFile({ HOME: '/home/a', TESTOPS_ADMIN_LAB_DIR: '/tmp/lab' })).toBe('/tmp/lab/testops-admin.yaml')
})
