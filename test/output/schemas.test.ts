import { describe, expect, test } from 'vitest'
import { failureOf } from '../../src/cli/failure.ts'
import { exitCodes } from '../../src/core/error.ts'
import { AdminError } from '../../src/core/error.ts'
import type { ErrorCode } from '../../src/core/error.ts'
import { explainEntries, explainTexts } from '../../src/knowledge/explain/index.ts'
import { explainSearch } from '../../src/knowledge/explain/search/search.ts'
import { explainDocument } from '../../src/output/explain.ts'
import { databaseDown, healthy, hostile, stuckLock, unknownOnly, warningsOnly } from './reports.ts'
import { faultsOf } from './schemas.ts'

describe('what is printed as JSON fits its schema', () => {
  test.each(Object.entries({ databaseDown, healthy, hostile, stuckLock, unknownOnly, warningsOnly }))(
    'doctor: %s',
    (_, report) => {
      expect(faultsOf('doctor', JSON.parse(JSON.stringify(report)))).toEqual([])
    },
  )

  test.each([
    'database/changelog-lock',
    'stuck-lock',
    'broker',
    'Не удается установить соединение',
    'Could not acquire change log lock',
    'zebra',
    '',
    'x'.repeat(100_000),
  ])('explain %j', (query) => {
    expect(faultsOf('explain', explainDocument(query, explainSearch(explainTexts)(query)))).toEqual([])
  })

  test('explain, all that is known', () => {
    const found = explainEntries.map((entry) => ({ entry, score: 1 }))
    expect(faultsOf('explain', explainDocument(null, { found, nearest: [] }))).toEqual([])
  })

  test.each(Object.keys(exitCodes) as ErrorCode[])('error %s', (code) => {
    expect(
      faultsOf('error', failureOf(new AdminError(code, 'what happened', ['what next']), 'tool')?.document),
    ).toEqual([])
  })

  test('a bug', () => {
    expect(faultsOf('error', failureOf(new Error('unforeseen'), 'tool')?.document)).toEqual([])
  })
})

describe('what does not fit is noticed', () => {
  test.each([
    ['a missing part', { ...healthy, summary: undefined }],
    ['an unknown key', { ...healthy, more: 1 }],
    ['a problem without findings', { ...healthy, checks: [{ ...healthy.checks[0], status: 'problem' }] }],
    ['skipped without a reason', { ...healthy, checks: [{ ...healthy.checks[0], status: 'skipped' }] }],
  ])('%s', (_, document) => {
    expect(faultsOf('doctor', JSON.parse(JSON.stringify(document)))).not.toEqual([])
  })
})
