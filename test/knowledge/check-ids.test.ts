import { expect, test } from 'vitest'
import { checks } from '../../src/checks/index.ts'
import { checkIds, isIgnorable } from '../../src/knowledge/check-ids.ts'

test('the ids that a configuration may name are those of the checks, in their order', () => {
  expect(checkIds).toEqual(checks.map(({ id }) => id))
})

test('those on which all else rests cannot be ignored', () => {
  expect(checkIds.filter((id) => !isIgnorable(id))).toEqual([
    'database/reachable',
    'broker/reachable',
    'sessions/reachable',
    'service/unfinished-repair',
    'api/reachable',
    'integrations/reachable',
  ])
})
