import { expect, test } from 'vitest'
import { beginCampaign, coverage, shareOf } from './campaign.ts'

const minute = 60_000

test('each file has its share of what is left of the hour', () => {
  const environment: NodeJS.ProcessEnv = {}
  const begin = Date.now()
  beginCampaign(3, environment)
  const shareAt = (minutes: number): number =>
    Math.round((shareOf(environment, begin + minutes * minute) - begin) / minute)
  expect([shareAt(0), shareAt(10), shareAt(35)]).toEqual([20, 35, 60])
})

test('a file that nobody counted has what is left', () => {
  const environment: NodeJS.ProcessEnv = { CAMPAIGN_MINUTES: '10' }
  const begin = Date.now()
  beginCampaign(1, environment)
  const ends = [shareOf(environment, begin), shareOf(environment, begin)].map((end) =>
    Math.round((end - begin) / minute),
  )
  expect(ends).toEqual([10, 10])
})

test.each(['0', 'an hour', ''])('no campaign takes %j minutes', (CAMPAIGN_MINUTES) => {
  expect(() => beginCampaign(1, { CAMPAIGN_MINUTES })).toThrow('CAMPAIGN_MINUTES must be a number of minutes')
})

test('a worker of no campaign is told', () => {
  expect(() => shareOf({})).toThrow('has not been begun')
})

test('what was left is said by file', () => {
  expect(
    coverage(
      [
        { file: 'test/a.test.ts', ran: 12, all: 752 },
        { file: 'test/b.test.ts', ran: 3, all: 3 },
      ],
      'X',
    ),
  ).toBe(
    [
      '     12 of   752  test/a.test.ts',
      'The campaign covered 15 of 755 tests, and all tests of 1 of 2 files.',
      'The order is by chance: another campaign runs others, CAMPAIGN_SEED=X the same.',
      '',
    ].join('\n'),
  )
})
