import { describe, expect, test } from 'vitest'
import { explainTexts } from '../../../src/knowledge/explain/index.ts'
import { explainSearch } from '../../../src/knowledge/explain/search/search.ts'
import { ordinary } from './ordinary.ts'

const search = explainSearch(explainTexts)

describe('what is not known is not found, and something near is named', () => {
  test.each(ordinary)('%j', (text) => {
    for (const query of [text, `2026-11-22 10:00:00.000  INFO 7 --- [main] o.e.app.Service : ${text}`]) {
      const { found, nearest } = search(query)
      expect(found.map(({ entry, score }) => `${entry.id} ${score}`)).toEqual([])
      expect(nearest.length).toBeGreaterThan(0)
    }
  })

  test('all of it at once', () => {
    expect(search(ordinary.join('\n')).found).toEqual([])
    expect(search(ordinary.map((line) => `testops-1  | ${line}`).join('\n')).found).toEqual([])
  })
})

describe('a text of any size', () => {
  const lines = ordinary
    .map((line) => `2026-11-22 10:00:00.000  INFO 7 --- [main] o.e.app.Service : ${line}\n`)
    .join('')
  const many = lines.repeat(Math.ceil(5_000_000 / lines.length))
  const fault =
    'liquibase.exception.LockException: Could not acquire change log lock.  Currently locked by app (10.0.0.7) ' +
    'since 11/21/26, 2:12 AM\n'

  test('5 MB in which nothing is known', () => {
    expect(search(many).found).toEqual([])
  })

  test.each([
    ['first', fault + many],
    ['in the middle', many + fault + many],
    ['last', many + fault],
    ['on a line of 5 MB', (many + fault).replaceAll('\n', ' ')],
  ])('5 MB with a fault %s', (_, text) => {
    expect(search(text).found[0]?.entry.id).toBe('stuck-lock')
  })

  test.each([
    'a',
    ' ',
    '\n',
    '\u0000',
    '"',
    "'",
    '[',
    '> ',
    'at a(',
    'indexed [',
    'indexed [1], processed [',
    '[pod/',
    'connection to ',
    '2026-11-22 10:00:00 ',
    'INFO [',
    'ё',
    '\u001b[',
    '//a',
  ])('a fault behind a text that only repeats %j', (part) => {
    expect(search(`${part.repeat(300_000 / part.length)}\n${fault}`).found[0]?.entry.id).toBe('stuck-lock')
  })
})
