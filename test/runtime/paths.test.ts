import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configHome, labConfigurationFile, labDirectory, recordsOf, stateHome } from '../../src/runtime/index.ts'

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
  expect(labConfigurationFile({ HOME: '/home/a', TESTOPS_ADMIN_LAB_DIR: '/tmp/lab' })).toBe(
    '/tmp/lab/testops-admin.yaml',
  )
})

test('deployments of one name in several clusters have records of their own', () => {
  const at = (name: string, cluster?: string): string =>
    recordsOf({ HOME: '/home/a' }, { name, ...(cluster !== undefined && { cluster }) }).runs
  const here = at('prod', 'https://one:6443, namespace testops')
  expect(here).toMatch(/^\/home\/a\/\.local\/state\/testops-admin\/prod@[0-9a-f]{16}\/runs$/)
  const all = [
    at('prod'),
    here,
    at('prod', 'https://two:6443, namespace testops'),
    at('prod', 'https://one:6443, namespace other'),
    at('../prod'),
    at('prod@x'),
  ]
  expect(new Set(all).size).toBe(all.length)
  expect([at('prod'), at('../x'), at('a@b')]).toEqual(
    ['prod', '%2E.%2Fx', 'a%40b'].map((it) => `/home/a/.local/state/testops-admin/${it}/runs`),
  )
})

test.each([
  '',
  '.',
  '..',
  '../../etc',
  '/etc',
  'a/b',
  'a\u0000b',
  '\u202e',
  '\ud800',
  'Ω'.repeat(500),
  'a'.repeat(5000),
  '%',
  '~',
])('whatever a deployment is called, its records lie in one folder of the state folder: %j', (name) => {
  const home = '/home/a/.local/state/testops-admin/'
  for (const cluster of [undefined, '../x']) {
    const { runs, lockFile } = recordsOf({ HOME: '/home/a' }, { name, ...(cluster !== undefined && { cluster }) })
    expect(runs.startsWith(home)).toBe(true)
    const [folder = '', ...rest] = runs.slice(home.length).split('/')
    expect(rest).toEqual(['runs'])
    expect(lockFile).toBe(`${home}${folder}/repair.lock`)
    expect(folder).toMatch(/^[\w%@~][\w%@~.!*'()-]{0,254}$/)
  }
})

test('long names that begin alike have records of their own', () => {
  const at = (name: string): string => recordsOf({ HOME: '/home/a' }, { name }).runs
  expect(at(`${'a'.repeat(400)}1`)).not.toBe(at(`${'a'.repeat(400)}2`))
})
