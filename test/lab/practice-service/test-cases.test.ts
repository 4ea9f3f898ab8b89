import { expect, test } from 'vitest'
import { importResults, moveTestCase } from '../../../src/lab/control.ts'
import type { LabState } from '../../../src/lab/state.ts'
import { explainTexts } from '../../../src/knowledge/explain/index.ts'
import { explainSearch } from '../../../src/knowledge/explain/search/search.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { deployment, sql, startService } from './support/deployment.ts'

const tests = ['shop.CartTest.adds', 'shop.CartTest.removes']

test('a test case that was imported again cannot be moved back, and the log tells it as explain knows it', async () => {
  const on = await deployment()
  const service = await startService(on.settings, { controlPort: await freePort() })
  const lab = { state: { controlPort: service.controlPort } as LabState }
  expect(await importResults(lab, 1, tests)).toEqual([1, 2])
  expect(await importResults(lab, 1, tests)).toEqual([1, 2])
  expect(await moveTestCase(lab, 2, 2)).toBeNull()
  expect(await importResults(lab, 1, tests)).toEqual([1, 3])
  expect(service.log()).not.toContain('status code 409')
  expect(await moveTestCase(lab, 2, 1)).toBe('Request failed with status code 409')
  expect(await sql(on, 'SELECT id::int, project_id::int AS project FROM test_case ORDER BY id')).toEqual([
    { id: 1, project: 1 },
    { id: 2, project: 2 },
    { id: 3, project: 1 },
  ])
  const line = service
    .log()
    .split('\n')
    .find((it) => it.includes('status code 409'))!
  expect(line).toMatch(/ WARN .* : Request failed with status code 409$/)
  expect(explainSearch(explainTexts)(line).found.map(({ entry }) => entry.id)).toEqual(['duplicate-move', 'conflict'])
})
