import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { explainEntries } from '../../../src/knowledge/explain/index.ts'
import { resultRules, ruleIds } from '../../../src/knowledge/result-rules.ts'
import { fileRules, groupRules } from '../../../src/results/rules/index.ts'

describe('the catalogue of rules', () => {
  it('is a catalogue of known faults, which are as grave there', () => {
    const faults = ruleIds.map((id) => explainEntries.find((entry) => entry.kind === 'fault' && entry.id === id))
    expect(faults.map((fault) => [fault?.id, fault?.severities])).toEqual(
      ruleIds.map((id) => [id, [resultRules[id].severity]]),
    )
  })

  it('has texts for each rule, in whole sentences', () => {
    expect(Object.keys(resultRules)).toEqual(ruleIds)
    const texts = Object.values(resultRules)
    expect(texts.filter(({ effect, remedy }) => !/^[A-Z].*\.$/.test(effect) || !/^[A-Z].*\.$/.test(remedy))).toEqual([])
    expect(texts.filter(({ title }) => !/^[a-z].*[^.]$/.test(title))).toEqual([])
    expect(texts.filter(({ source }) => !/^docs\//.test(source))).toEqual([])
    expect(texts.filter(({ effect, remedy }) => ((effect + remedy).match(/`/g)?.length ?? 0) % 2 === 1)).toEqual([])
  })

  it('has code for each rule on results', () => {
    const ids = [...fileRules, ...groupRules].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    const folder = join(import.meta.dirname, '../../../src/results')
    const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      // what mends a rule's problems finds none
      .filter((file) => file.endsWith('.ts') && !file.startsWith('fix'))
      .map((file) => readFileSync(join(folder, file), 'utf8'))
    expect(ruleIds.filter((id) => !code.some((text) => text.includes(`'${id}'`)))).toEqual([])
    expect(ids.map((id) => ruleIds.indexOf(id)).slice(0, fileRules.length)).toEqual(
      [...fileRules.keys()].map((at) => ruleIds.indexOf(ids[at]!)).sort((a, b) => a - b),
    )
  })
})
