import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configurationKeys, configurationTemplate } from '../../../src/runtime/configuration/template.ts'
import { loadConfiguration } from '../../../src/runtime/index.ts'
import { folderWith } from '../folder.ts'

test('the template in templates/ is the one that the schema makes', async () => {
  await expect(configurationTemplate()).toMatchFileSnapshot(
    join(import.meta.dirname, '../../../templates/testops-admin.yaml'),
  )
})

test('the template is a configuration as it stands', async () => {
  const workingDirectory = await folderWith({ 'testops-admin.yaml': configurationTemplate() })
  const { settings } = await loadConfiguration({ environment: {}, workingDirectory })
  expect(settings.deployments.get('prod')).toEqual({ platform: 'host', host: { unit: 'testops' } })
})

test('the template is one, too, without its comment signs', async () => {
  // `commands` stands in the place of `unit`
  const text = configurationTemplate()
    .replace(/^ +unit: .*\n/m, '')
    .replace(/^( {4,})# (?=.*:)/gm, '$1')
  const workingDirectory = await folderWith({ 'testops-admin.yaml': text })
  const { settings } = await loadConfiguration({ environment: {}, workingDirectory })
  const sections = configurationKeys()
    .map(({ key }) => key)
    .filter((key) => !key.includes('.'))
  expect(Object.keys(settings.deployments.get('prod')!)).toEqual(
    sections.filter((key) => key !== 'current' && key !== 'deployments'),
  )
})

test('every key has a form and a meaning', () => {
  expect(configurationKeys().filter(({ form, about }) => !form || !about)).toEqual([])
  expect(configurationKeys().find(({ key }) => key === 'sessions.sentinel.nodes')).toEqual({
    key: 'sessions.sentinel.nodes',
    form: 'list of texts',
    about: 'addresses of the sentinels',
  })
})
