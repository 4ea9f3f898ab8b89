import { describe, expect, test } from 'vitest'
import { explainEntries } from '../../src/knowledge/explain/index.ts'
import { searchEntries } from '../../src/knowledge/explain/search.ts'
import { explainDocument, explainText } from '../../src/output/explain.ts'
import { plainScreen } from '../../src/output/screen.ts'

describe('explain', () => {
  test.each([
    ['exact', 'database/changelog-lock'],
    ['fault', 'lock-stolen'],
    ['group', 'broker'],
    ['typo', 'broker/queue-durable'],
    ['nothing', 'zebra'],
  ])('%s', async (name, query) => {
    const document = explainDocument(query, searchEntries(query, explainEntries))
    await expect(explainText(document, plainScreen)).toMatchFileSnapshot(`golden/explain-${name}.txt`)
  })

  test('in colour', async () => {
    const document = explainDocument('trees/migrated', searchEntries('trees/migrated', explainEntries))
    await expect(explainText(document, { columns: 60, colour: true })).toMatchFileSnapshot('golden/explain-colour.txt')
  })
})
