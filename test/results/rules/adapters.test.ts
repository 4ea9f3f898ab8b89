import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ruleIds } from '../../../src/knowledge/result-rules.ts'
import { problemsIn } from './directories.ts'

const folder = join(import.meta.dirname, '../../fixtures/results')
const directories = readdirSync(folder).filter((name) => name.startsWith('allure-'))
const ruleOf = (name: string): string | undefined => ruleIds.find((rule) => name.endsWith(`-${rule}`))
const sound = directories.filter((name) => ruleOf(name) === undefined)
const broken = directories.filter((name) => ruleOf(name) !== undefined)

describe('results of real adapters', () => {
  it.each(sound)('%s has nothing wrong', async (name) => {
    expect(await problemsIn(join(folder, name))).toEqual([])
  })

  it.each(broken)('%s breaks its rule and no other', async (name) => {
    const rules = (await problemsIn(join(folder, name))).map((problem) => problem.split(' ')[1])
    expect(new Set(rules)).toEqual(new Set([ruleOf(name)]))
  })

  it('have nothing wrong in two runs of one suite', async () => {
    for (const name of sound) expect(await problemsIn(join(folder, name), { previous: join(folder, name) })).toEqual([])
  })

  it('are of several adapters, most of which write each try', () => {
    expect(sound.map((name) => name.replace(/-[\d.]+$/, ''))).toEqual([
      'allure-cucumberjs',
      'allure-jest',
      'allure-mocha',
      'allure-playwright',
      'allure-vitest',
    ])
    expect(broken.map(ruleOf)).toEqual([
      'invented-identifier',
      'long-field',
      'parameters-missing',
      'volatile-parameter',
    ])
  })
})
