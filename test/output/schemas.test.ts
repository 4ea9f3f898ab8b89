import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { failureOf } from '../../src/cli/failure.ts'
import { exitCodes } from '../../src/core/error.ts'
import { AdminError } from '../../src/core/error.ts'
import type { ErrorCode } from '../../src/core/error.ts'
import { explainEntries, explainTexts } from '../../src/knowledge/explain/index.ts'
import { explainSearch } from '../../src/knowledge/explain/search/search.ts'
import { summarise } from '../../src/engine/report.ts'
import { explainDocument } from '../../src/output/explain.ts'
import { databaseDown, healthy, hostile, stuckLock, unknownOnly, warningsOnly } from './reports.ts'
import { faultsOf } from './schemas.ts'

/** Every object of a schema that counts the checks of a report. */
function countsIn(schema: unknown): string[][] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = (schema as { properties?: Record<string, unknown> }).properties ?? {}
  const here = 'skipped' in own && 'unknown' in own && 'warning' in own ? [Object.keys(own).sort()] : []
  return [...here, ...Object.values(schema).flatMap(countsIn)]
}

test('each schema that has the counts of a report has all of them', () => {
  const folder = join(import.meta.dirname, '../../src/output/schemas')
  const schemas = readdirSync(folder).filter((name) => name.endsWith('.json'))
  const counts = schemas.flatMap((name) =>
    countsIn(JSON.parse(readFileSync(join(folder, name), 'utf8'))).map((keys) => `${name} ${keys.join(' ')}`),
  )
  const wanted = Object.keys(summarise([])).sort().join(' ')
  expect(counts.filter((it) => it.endsWith(`json ${wanted}`))).toEqual(counts)
  expect(counts.length).toBeGreaterThan(3)
})

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
