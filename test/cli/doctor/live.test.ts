import { expect, test } from 'vitest'
import { liveList } from '../../../src/cli/doctor/print.ts'
import { ok, problem } from '../../output/reports.ts'

const screen = { columns: 60, colour: true }

test('results are shown as they come, then taken away', () => {
  const written: string[] = []
  const live = liveList({ write: (text: string) => written.push(text), rows: 24 }, screen, [
    'database/reachable',
    'broker/alarms',
  ])
  live.add(problem('broker/alarms', 'error', 'the disk alarm of node rabbit@mq-1 is set: 12 MB are free of 40 GB'))
  live.add(ok('database/reachable', 'PostgreSQL 15.4'))
  live.clear()
  live.clear()
  expect(written).toEqual([
    '\r\u001b[2K✖ error    broker/alarms       the disk alarm of node rabb…\n… 1 check running: database/reachable',
    '\r\u001b[2K✔ ok       database/reachable  PostgreSQL 15.4\n',
    '\r\u001b[2A\u001b[J',
  ])
})

test('a small terminal never scrolls', () => {
  const ids = Array.from({ length: 10 }, (_, index) => `database/check-${index}`)
  const written: string[] = []
  const live = liveList({ write: (text: string) => written.push(text), rows: 5 }, screen, ids)
  for (const id of ids) live.add(ok(id))
  expect(written.join('').split('\n').length - 1).toBe(2)
  live.clear()
  expect(written.at(-1)).toBe('\r\u001b[2A\u001b[J')
})

test('nothing is written where nothing came', () => {
  const written: string[] = []
  liveList({ write: (text: string) => written.push(text) }, screen, ['a/b']).clear()
  expect(written).toEqual([])
})
