import { fileURLToPath } from 'node:url'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { englishTexts } from '../../bin/english-texts.js'
import { readTexts } from '../../bin/explain-texts.js'
import { sumsOf, sumsText } from '../../bin/translations.js'

const folder = fileURLToPath(new URL('../../explain', import.meta.url))
const texts = await readTexts(folder)
const english = englishTexts()
const entries = [...texts.checkTexts, ...texts.faultTexts, ...texts.signatureTexts, ...texts.termTexts]

test('texts are collected from the commands, from what prints, and from the checks', () => {
  expect(english.help).toContain('Find what is wrong with a deployment')
  expect(english.words).toEqual(expect.arrayContaining(['{1} checks in {2} s', 'Exit code {1}.', 'What to do']))
  expect(english.sentences).toEqual(
    expect.arrayContaining([
      'Release the lock.',
      // of a text that is put together, of one by error code, and of one with a name for its value
      'Then restart the service.',
      'If the name is right, restore the database from a backup.',
      'Start {1} on {2}, or correct its address ({3}).',
    ]),
  )
})

describe.each(Object.entries(texts.translations))('in %s', (language, own) => {
  test.each(['help', 'words', 'sentences'] as const)('%s: nothing is missing, and nothing is left over', (part) => {
    const known = Object.keys(own[part])
    const missing = english[part].filter((text) => !known.includes(text))
    const leftOver = known.filter((text) => !english[part].includes(text))
    expect({ missing, leftOver }).toEqual({ missing: [], leftOver: [] })
  })

  test('what stays English is on record', async () => {
    const lacks = entries.flatMap(({ id, ...whole }) => {
      const keys = ['title', 'meaning', 'cause', 'causes', 'remedies'].filter((key) => key in whole)
      const translated = Object.keys(own.entries[id] ?? {})
      const left = keys.filter((key) => !translated.includes(key))
      return left.length === 0 ? [] : [`${id}: ${left.length === keys.length ? 'all' : left.join(', ')}\n`]
    })
    await expect(lacks.join('')).toMatchFileSnapshot(`untranslated.${language}.txt`)
  })

  test('no English text has changed since it was translated (once its translation is right: bin/translated.js)', () => {
    expect(sumsText(sumsOf(texts, language))).toBe(readFileSync(`${folder}/${language}.sums.yaml`, 'utf8'))
  })

  test('names in backquotes, and numbers, are the same', () => {
    const pairs = [
      ...Object.entries({ ...own.help, ...own.words, ...own.sentences, ...own.phrases }),
      ...entries.flatMap((entry) => pairsOf({ ...entry }, { ...own.entries[entry.id] })),
    ]
    expect(pairs.length).toBeGreaterThan(300)
    const torn = pairs.flatMap(([from, to]) => {
      const missing = (from.match(/`[^`]+`|\d+(?:\.\d+)*/g) ?? []).filter(
        (name) => !name.includes('{') && !to.includes(name),
      )
      return missing.length === 0 ? [] : [`${missing.join(', ')} is not in: ${to}`]
    })
    expect(torn).toEqual([])
  })
})

type Texted = Readonly<Record<string, unknown>> | object

/** Returns each English text of an entry with its translation. */
function pairsOf(entry: Texted, own: Texted): [string, string][] {
  return Object.entries(own).flatMap(([key, value]) => {
    const other = (entry as Record<string, unknown>)[key]
    if (typeof value === 'string') return typeof other === 'string' ? [[other, value] as [string, string]] : []
    const items = other as readonly (string | { text: string })[]
    return (value as readonly string[]).map((text, at): [string, string] => {
      const item = items[at]!
      return [typeof item === 'string' ? item : item.text, text]
    })
  })
}
