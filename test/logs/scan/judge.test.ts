import { expect, test } from 'vitest'
import { judged } from '../../../src/logs/scan/tally.ts'
import { openScan } from '../../../src/logs/scan/scanner.ts'

const waiting = 'INFO liquibase.lockservice : Waiting for changelog lock....'
const taken = 'INFO liquibase.lockservice : Successfully acquired change log lock'
const refused = 'ERROR x : Could not acquire change log lock.  Currently locked by a (b) since c'

function severities(...lines: string[]): Record<string, string> {
  const scan = openScan({ timeZone: 'UTC' })
  scan.write(Buffer.from(lines.join('\n')))
  return Object.fromEntries(
    judged(scan.end().causes).map(({ id, severity, overBy }) => [
      id,
      `${severity}${overBy ? ` ${overBy.toISOString().slice(11, 19)}` : ''}`,
    ]),
  )
}
const at = (second: number, text: string): string => `2026-11-22 12:00:0${second}.000 ${text}`

test('who waits for the lock and gets it is no problem', () => {
  expect(severities(at(0, waiting), at(1, waiting), at(2, taken))).toEqual({
    'lock-waiting': 'info 12:00:02',
    'lock-taken': 'info',
  })
})

test.each<[string, string[], string]>([
  ['who waits and has not got it yet', [at(0, waiting)], 'warning'],
  ['who waits again after another one got it', [at(0, waiting), at(1, taken), at(2, waiting)], 'warning'],
  ['whose time is not known', [waiting, taken], 'warning'],
])('%s', (_, lines, expected) => {
  expect(severities(...lines)['lock-waiting']).toBe(expected)
})

const released = 'INFO liquibase.lockservice : Successfully released change log lock'
function partsOf(...lines: string[]): Record<string, string | undefined> {
  const scan = openScan({ timeZone: 'UTC' })
  scan.write(Buffer.from(lines.join('\n')))
  return Object.fromEntries(judged(scan.end().causes).map(({ id, partOf }) => [id, partOf]))
}

test('a waiter that releases the lock when it gives up has taken it from its holder', () => {
  expect(partsOf(at(0, taken), at(1, waiting), at(4, released), at(4, refused))).toEqual({
    'lock-taken': undefined,
    'lock-waiting': 'lock-stolen',
    'lock-released': undefined,
    'lock-refused': 'lock-stolen',
  })
})

test.each<[string, string[]]>([
  [
    'who gives up and releases nothing has taken nothing',
    [at(0, taken), at(1, released), at(2, waiting), at(4, refused)],
  ],
  ['who gets the lock and gives it back has taken nothing', [at(0, waiting), at(1, taken), at(2, released)]],
  [
    'who gives it back long before another one gives up has taken nothing',
    [at(0, waiting), at(1, released), at(6, refused)],
  ],
])('%s', (_, lines) => {
  expect(Object.values(partsOf(...lines))).not.toContain('lock-stolen')
})

test('a start that was refused the lock has failed, whatever the next one did', () => {
  expect(severities(at(0, waiting), at(1, refused), at(2, taken))).toEqual({
    'lock-waiting': 'info 12:00:02',
    'lock-refused': 'error',
    'lock-taken': 'info',
  })
})
