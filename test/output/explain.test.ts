import { describe, expect, test } from 'vitest'
import { explainEntries, explainTexts } from '../../src/knowledge/explain/index.ts'
import { explainSearch } from '../../src/knowledge/explain/search/search.ts'
import { explainDocument, explainText } from '../../src/output/explain.ts'
import { plainScreen } from '../../src/output/paint.ts'

const search = explainSearch(explainTexts)

describe('explain', () => {
  test.each([
    ['exact', 'database/changelog-lock'],
    ['fault', 'lock-stolen'],
    ['reference', 'stuck-lock'],
    ['signature', 'lock-refused'],
    ['term', 'Не удается установить соединение'],
    [
      'message',
      'java.net.UnknownHostException: jira.corp.example\n\tat ' +
        'java.base/java.net.InetAddress.getAllByName(InetAddress.java:1)',
    ],
    ['two', 'java.net.UnknownHostException: jira.corp.example\nCould not acquire change log lock'],
    ['group', 'broker'],
    ['typo', 'broker/queue-durable'],
    ['nothing', 'zebra'],
    ['blank', ' '],
  ])('%s', async (name, query) => {
    const document = explainDocument(query, search(query))
    await expect(explainText(document, plainScreen)).toMatchFileSnapshot(`golden/explain-${name}.txt`)
  })

  test('everything', async () => {
    const document = explainDocument(null, { found: explainEntries.map((entry) => ({ entry, score: 1 })), nearest: [] })
    await expect(explainText(document, plainScreen)).toMatchFileSnapshot('golden/explain-everything.txt')
  })

  test('in colour', async () => {
    const document = explainDocument('trees/migrated', search('trees/migrated'))
    await expect(explainText(document, { columns: 60, colour: true })).toMatchFileSnapshot('golden/explain-colour.txt')
  })
})

test('of a pasted text only its beginning is repeated, without tokens and passwords', () => {
  const said = (query: string): string => explainDocument(query, search(query)).query
  expect(said('x'.repeat(1000))).toBe(`${'x'.repeat(200)}…`)
  expect(said(`Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.${'a'.repeat(500)}.b`)).toBe('Authorization: [secret]')
  expect(said('amqp://testops:pass@mq:5672 refused')).toBe('amqp://[secret]@mq:5672 refused')
  expect(said('PRIVATE-TOKEN: abc, after GET https://tracker/x?token=abc')).toBe(
    'PRIVATE-TOKEN: [secret], after GET https://tracker/x?token=[secret]',
  )
})

test('a text of several lines moves nothing on the screen where it is not known', () => {
  const query = 'zebra\n\u001b[2Jtapir\t\u202eokapi'
  expect(explainText(explainDocument(query, search(query)), plainScreen)).toMatch(
    /^No entry matches `zebra ⏎ \\x1b\[2Jtapir \\u202eokapi`; [^\u001b]*$/,
  )
})
