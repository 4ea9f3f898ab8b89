import { expect, test } from 'vitest'
import { isBounded, isLossy } from '../../src/knowledge/broker.ts'

const policy = (pattern: string) => ({ pattern, appliesTo: 'queues', definition: { 'max-length': 1 } })

test.each([
  ['^a', 'abc', true],
  ['^a', 'bca', false],
  ['^(?!amq\\.).*', 'amq.gen', false],
  ['^(ha|old)+\\.', 'haold.a', true],
  ['^(ha|old)+\\.', 'new.a', false],
  ['(*PCRE)', 'a', true],
])('the policy %j bears on %s: %s', (pattern, queue, bears) => {
  expect([isLossy(policy(pattern), queue), isBounded({ name: queue, arguments: {} }, [policy(pattern)])]).toEqual([
    bears,
    bears,
  ])
})

test.each(['^(a|a)*$', '^(a+)+$', '^a*a*a*a*a*a*a*b$', '^((a){0,9}){0,99}$'])(
  'the policy %j, which comes to no end on a name, is taken to bear on it',
  (pattern) => {
    expect(isLossy(policy(pattern), `${'a'.repeat(250)}!`)).toBe(true)
  },
)
