import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { explainTexts } from '../../../src/knowledge/explain/index.ts'
import { explainSearch } from '../../../src/knowledge/explain/search/search.ts'
import { inOtherWords, mistyped } from './in-other-words.ts'
import { messages, rows } from './rows.ts'

const search = explainSearch(explainTexts)
const first = (query: string): string | undefined => search(query).found[0]?.entry.id

test.each(rows)('$said', ({ said, condition, finds }) => {
  for (const query of [
    said,
    `"${said}"`,
    said.replaceAll('`', ''),
    said.toUpperCase(),
    `${said} ${condition}`,
    `| ${said} | ${condition} |`,
  ]) {
    expect([query, first(query)]).toEqual([query, finds])
  }
})

// one refers to another part of the document
test.each(rows.filter(({ condition }) => !condition.startsWith('See part')))('$condition', ({ condition, finds }) => {
  for (const query of [condition, condition.replaceAll('`', ''), condition.toLowerCase()])
    expect([query, first(query)]).toEqual([query, finds])
})

describe.each(inOtherWords)('%s in the words of an operator', (finds, said) => {
  test.each(said)('%s', (query) => {
    for (const form of [query, query.toUpperCase(), `${query}?`]) expect([form, first(form)]).toEqual([form, finds])
  })
})

describe.each(mistyped)('%s with one letter wrong', (finds, said) => {
  test.each(said)('%s', (query) => {
    expect(first(query)).toBe(finds)
  })
})

const letters = 'abcdefghijklmnopqrstuvwxyz'
const word = fc.string({ unit: fc.constantFrom(...letters), minLength: 3, maxLength: 10 })
const host = fc.tuple(word, word, fc.constantFrom('example', 'corp', 'svc')).map(([a, b, c]) => `${a}-${b}.${c}.${b}`)
const number = fc.integer({ min: 1, max: 99_999 })
const date = fc.date({ min: new Date('2020-01-01'), max: new Date('2029-12-31'), noInvalidDate: true })
const filled = fc
  .record({ host, queue: word, number, date, address: fc.ipV4() })
  .map(
    (values) => (text: string) =>
      text.replace(/\{(host|queue|number|date|address)\}/g, (_, name: keyof typeof values) =>
        name === 'date' ? values.date.toISOString() : String(values[name]),
      ),
  )

/** What may stand before each line of what is pasted. */
const head = fc
  .tuple(date, fc.constantFrom('INFO', 'WARN', 'ERROR'), number, word, host)
  .map(([at, level, pid, name, pod]) => {
    const time = at.toISOString()
    const spring =
      `${time.replace('T', ' ').replace('Z', '')} ${level.padStart(5)} ${pid} --- [${name}-1] ` +
      `v.r.${name}.Service : `
    return [
      '',
      spring,
      `${time.replace('Z', '+03:00')}  ${level} ${pid} --- [testops] [nio-8080-exec-1] v.r.${name}.Service : `,
      `testops-1  | ${spring}`,
      `[pod/${name}-7d9f8c5b6-q8zkn/testops] ${spring}`,
      `${time} ${spring}`,
      `Nov 22 12:00:00 ${pod} testops[${pid}]: ${spring}`,
      `[${time.slice(0, 19).replace('T', ' ')}] ${level} [${name}] `,
      '> ',
    ]
  })

/** What a message goes through on its way into a terminal. */
const bent = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => text.replaceAll(' ', '  '),
  (text) => text.replaceAll('\n', '\r\n'),
  (text) => text.replaceAll("'", '’').replaceAll('"', '”'),
  (text) => text.replaceAll(' ', '\u00a0'),
  (text) => text.replaceAll('и', '\u200bи'),
  (text) => `\u001b[31m${text}\u001b[0m`,
  (text) =>
    `${text}\n\tat org.example.app.Service.call(Service.java:42)\n\tat ` +
    `java.base/java.lang.Thread.run(Thread.java:840)\n\t... 61 more`,
  (text) => `2026-11-22 10:00:00.000  INFO 7 --- [main] o.e.Application : Started Application in 3 seconds\n${text}\n`,
)

describe.each(messages)('%s', (message, finds) => {
  test('with any names, ids and times, and whatever stands before its lines', () => {
    const prefixed = fc.tuple(filled, head, fc.nat(8), bent)
    fc.assert(
      fc.property(prefixed, ([fill, heads, kind, bend]) => {
        const query = bend(
          fill(message)
            .split('\n')
            .map((line) => heads[kind] + line)
            .join('\n'),
        )
        expect(first(query)).toBe(finds)
      }),
      { numRuns: 150 },
    )
  })

  test('broken at any blank, as a narrow terminal or a mail does', () => {
    // a line that is read as a whole must not be broken
    if (finds === 'files-before-agent') return
    fc.assert(
      fc.property(filled, fc.integer({ min: 10, max: 120 }), (fill, width) => {
        const broken = fill(message).replace(new RegExp(`(.{${width},}?) `, 'g'), '$1\n')
        expect(first(broken)).toBe(finds)
      }),
      { numRuns: 60 },
    )
  })
})

describe.each(rows)('with a head of a log: $said', ({ said, finds }) => {
  test('finds the same', () => {
    fc.assert(
      fc.property(head, fc.nat(8), (heads, kind) => {
        expect(first(`${heads[kind]}${said}`)).toBe(finds)
      }),
      { numRuns: 40 },
    )
  })
})

test('of a text that tells of two faults both are found', () => {
  const both =
    `java.net.UnknownHostException: jira.corp.example\n${'at org.example.A.b(A.java:1)\n'.repeat(50)}Could not ` +
    'acquire change log lock'
  expect(search(both).found.map(({ entry }) => entry.id)).toEqual(
    expect.arrayContaining(['stuck-lock', 'unknown-host']),
  )
})
