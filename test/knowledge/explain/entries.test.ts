import { expect, test } from 'vitest'
import { commands } from '../../../src/commands/index.ts'
import { explainEntries, explainTexts } from '../../../src/knowledge/explain/index.ts'
import { resultRules } from '../../../src/knowledge/result-rules.ts'
import { isThere } from '../../support/pages.ts'
import { resolved } from '../../../src/knowledge/explain/entry.ts'

const byId = new Map(explainEntries.map((entry) => [entry.id, entry]))

test('every text is complete', () => {
  const lacking = explainEntries.filter(
    ({ kind, title, meaning, causes, verify, remedies, severities, source }) =>
      title === '' ||
      meaning.length < 60 ||
      causes.length === 0 ||
      verify.length === 0 ||
      remedies.length === 0 ||
      remedies.some(({ text }) => text === '') ||
      (kind === 'check' && severities.length === 0) ||
      !/\bdocs\/|'s own words/.test(source),
  )
  expect(lacking.map(({ id }) => id)).toEqual([])
})

test('every page that a text is from is there, with the part that is named', () => {
  const sources = [
    ...explainEntries.map(({ source }) => source),
    ...Object.values(resultRules).map(({ source }) => source),
  ]
  const pages = [...new Set(sources.flatMap((source) => source.match(/\b[\w/-]+\.md(?:#[\w-]+)?/g) ?? []))]
  expect(pages.length).toBeGreaterThan(10)
  expect(pages.filter((page) => !isThere(page))).toEqual([])
})

test('what an entry refers to is there, and is not itself', () => {
  for (const text of explainTexts) {
    for (const id of byId.get(text.id)?.see ?? [])
      expect([text.id, id, byId.has(id) && id !== text.id]).toEqual([text.id, id, true])
    if ('of' in text)
      for (const index of text.fitting ?? [])
        expect([text.id, byId.get(text.of)?.remedies[index] !== undefined]).toEqual([text.id, true])
  }
})

test('a reference to nothing is no text', () => {
  expect(() => resolved([{ id: 'a', kind: 'fault', of: 'b', title: 'a', meaning: 'a' }])).toThrow('a refers to b')
})

test('no two entries say the same sentence', () => {
  const only = explainTexts.filter(({ kind }) => kind !== 'signature')
  const sentences = only.flatMap((text) =>
    [text.meaning, ...(text.causes ?? []), ...(text.remedies ?? []).map((remedy) => remedy.text)].filter(
      (it) => it.length > 40 && !it.startsWith('Look at the other reported problems first'),
    ),
  )
  expect(sentences.filter((sentence, index) => sentences.indexOf(sentence) !== index)).toEqual([])
})

test('every command of ours that is named is there, and so is what `explain` and `doctor --only` are given', () => {
  const known = Object.keys(commands).map((id) => id.replaceAll(':', ' '))
  for (const { id, meaning, causes, verify, remedies } of explainEntries) {
    const all = [...verify, ...remedies.flatMap((remedy) => remedy.commands)]
    const texts = [meaning, ...causes, ...remedies.map((remedy) => remedy.text), ...all].join('\n')
    for (const [, words = ''] of texts.matchAll(/testops-admin ([a-z][a-z -]*)/g)) {
      expect([id, words, known.some((name) => words === name || words.startsWith(`${name} `))]).toEqual([
        id,
        words,
        true,
      ])
    }
    for (const [, ids = ''] of texts.matchAll(/testops-admin explain ([a-z0-9/-]+)/g))
      expect([id, ids, byId.has(ids)]).toEqual([id, ids, true])
    for (const [, ids = ''] of texts.matchAll(/--only ([a-z/,-]+)/g)) {
      for (const only of ids.split(','))
        expect([id, only, [...byId.keys()].some((name) => name === only || name.startsWith(`${only}/`))]).toEqual([
          id,
          only,
          true,
        ])
    }
  }
})
