import { expect, test } from 'vitest'
import { explainEntries } from '../../../src/knowledge/explain/index.ts'
import { searchEntries } from '../../../src/knowledge/explain/search.ts'

/** What a service with Liquibase 4.28.0 says at its end, as pasted from its log. */
const stolen = `liquibase.lockservice : Successfully released change log lock
liquibase.exception.LockException: Could not acquire change log lock.  Currently locked by testops-7d9f8c5b6-q8zkn (10.42.0.191) since 11/21/26, 2:12 AM`

test.each<[query: string, found: string[], nearest: string[]]>([
  ['database/changelog-lock', ['database/changelog-lock'], []],
  ['  Database/Changelog-Lock ', ['database/changelog-lock'], []],
  ['sessions', ['sessions/reachable', 'sessions/clock', 'sessions/memory'], []],
  ['sessions/*', ['sessions/reachable', 'sessions/clock', 'sessions/memory'], []],
  ['queues-durable', ['broker/queues-durable'], []],
  ['Could not acquire change log lock', ['database/changelog-lock'], []],
  ['lock-stolen', ['lock-stolen'], []],
  ['Successfully released change log lock', ['lock-stolen'], []],
  [stolen, ['lock-stolen'], []],
  ['token-expired', ['token-expired'], []],
  ['duplicate-move', ['duplicate-move'], []],
  ['Request failed with status code 409', ['duplicate-move'], []],
  ['2026-11-21 10:00:00.000  WARN 7 --- [nio-8080-exec-2] v.r.t.TestCaseService : Request failed with status code 409', ['duplicate-move'], []],
  ['Request failed with status code 401. The expected CSRF token could not be found', ['sessions/clock'], []],
  ['CPU does not support x86-64-v3', ['service/cpu-level'], []],
  ['java.net.UnknownHostException', ['integrations/reachable'], []],
  ['database/changelog-lok', [], ['database/changelog-lock']],
  ['sesions/clok', [], ['sessions/clock']],
  ['databse', [], ['database']],
  ['stuck-lok', [], ['lock-stolen']],
  ['zebra hypervisor tapir', [], ['service/cpu-level']],
  ['zebra', [], ['integrations']],
  ['', [], []],
  ['/', [], []],
])('%j finds %j', (query, found, nearest) => {
  const answer = searchEntries(query, explainEntries)
  const ids = answer.found.map(({ entry }) => entry.id)
  expect(found.length === 1 ? ids.slice(0, 1) : ids).toEqual(found)
  expect(answer.nearest.slice(0, 1)).toEqual(nearest)
})

test('another name stands for the texts that it is given for', () => {
  const faults = new Map([
    ['stuck-lock', ['database/changelog-lock']],
    ['store-full', ['sessions/memory']],
  ])
  const { found } = searchEntries('stuck-lock', explainEntries, faults)
  expect(found.map(({ entry, score }) => [entry.id, score])).toEqual([['database/changelog-lock', 1]])
  expect(searchEntries('stuck-lok', explainEntries, faults)).toEqual({ found: [], nearest: ['stuck-lock'] })
})

test('an exact id scores 1, a guess less, and the best comes first', () => {
  expect(searchEntries('api/token', explainEntries).found.map(({ score }) => score)).toEqual([1])
  const scores = searchEntries('expected CSRF token', explainEntries).found.map(({ score }) => score)
  expect(scores.length).toBeGreaterThan(0)
  expect(scores).toEqual(scores.toSorted((a, b) => b - a))
  expect(Math.max(...scores)).toBeLessThan(1)
})

test('every text is complete', () => {
  const lacking = explainEntries.filter(
    ({ meaning, causes, verify, remedies, severities, source }) =>
      meaning.length < 80 ||
      causes.length === 0 ||
      verify.length === 0 ||
      remedies.length === 0 ||
      severities.length === 0 ||
      source === '',
  )
  expect(lacking.map(({ id }) => id)).toEqual([])
  expect(new Set(explainEntries.map(({ id }) => id)).size).toBe(explainEntries.length)
})
