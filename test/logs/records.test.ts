import { describe, expect, it } from 'vitest'
import { splitRecords } from '../../src/logs/records.ts'

const shown = (text: string, timeZone: string | null = 'UTC'): unknown =>
  splitRecords(text, timeZone).map(({ at, level, text: whole }) => [at?.toISOString() ?? null, level, whole])

describe('a Spring Boot log', () => {
  it('has records of several lines', () => {
    const text = [
      '2026-11-21 02:13:10.123  INFO 1 --- [main] liquibase.lockservice : Waiting for changelog lock....',
      '2026-11-21 02:13:11.456 ERROR 1 --- [main] o.s.boot.SpringApplication : Application run failed',
      '',
      'liquibase.exception.LockException: Could not acquire change log lock.',
      '\tat liquibase.lockservice.StandardLockService.waitForLock(StandardLockService.java:286)',
      '2026-11-21 02:13:12.000  WARN 1 --- [main] a.B : bye',
      '',
    ].join('\n')
    expect(splitRecords(text, 'UTC')).toMatchInlineSnapshot(`
      [
        {
          "at": 2026-11-21T02:13:10.123Z,
          "level": "INFO",
          "text": "2026-11-21 02:13:10.123  INFO 1 --- [main] liquibase.lockservice : Waiting for changelog lock....",
        },
        {
          "at": 2026-11-21T02:13:11.456Z,
          "level": "ERROR",
          "text": "2026-11-21 02:13:11.456 ERROR 1 --- [main] o.s.boot.SpringApplication : Application run failed

      liquibase.exception.LockException: Could not acquire change log lock.
      	at liquibase.lockservice.StandardLockService.waitForLock(StandardLockService.java:286)",
        },
        {
          "at": 2026-11-21T02:13:12.000Z,
          "level": "WARN",
          "text": "2026-11-21 02:13:12.000  WARN 1 --- [main] a.B : bye",
        },
      ]
    `)
  })

  it.each([
    ['2026-11-21T02:13:10.123+03:00  INFO 1 --- x', 'UTC', '2026-11-20T23:13:10.123Z'],
    ['2026-11-21T02:13:10.123Z  INFO 1 --- x', 'Asia/Tokyo', '2026-11-21T02:13:10.123Z'],
    ['2026-11-21T02:13:10.123-0330  INFO 1 --- x', null, '2026-11-21T05:43:10.123Z'],
    ['2026-11-21 02:13:10.123  INFO 1 --- x', 'Asia/Tokyo', '2026-11-20T17:13:10.123Z'],
    ['2026-11-21 02:13:10,123  INFO 1 --- x', 'UTC', '2026-11-21T02:13:10.123Z'],
    ['2026-11-21 02:13:10  INFO 1 --- x', 'UTC', '2026-11-21T02:13:10.000Z'],
    ['2026-07-21 02:13:10  INFO 1 --- x', 'Europe/Berlin', '2026-07-21T00:13:10.000Z'],
    ['2026-11-21 02:13:10.123  INFO 1 --- x', null, null],
    ['2026-13-41 02:13:10.123  INFO 1 --- x', 'UTC', null],
  ])('%s in %s', (line, timeZone, at) => {
    expect(shown(line, timeZone)).toEqual([[at, 'INFO', line]])
  })

  it.each([
    ['{"@timestamp":"2026-11-21T05:13:10.123456+03:00","log.level":"ERROR","message":"x"}', 'ERROR'],
    ['{"version":"1.1","short_message":"x","timestamp":1795227190.123,"level":6,"_level_name":"INFO"}', 'INFO'],
    ['{"instant":{"epochSecond":1795227190,"nanoOfSecond":1},"level":"WARN","message":"x"}', 'WARN'],
    ['{"time":1795227190123,"message":"x"}', null],
  ])('may be one of JSON: %s', (line, level) => {
    const records = splitRecords(`${line}\n${line}\n`, 'UTC')
    expect(records.map((it) => [it.at?.toISOString().slice(0, 19), it.level, it.text])).toEqual([
      ['2026-11-21T02:13:10', level, line],
      ['2026-11-21T02:13:10', level, line],
    ])
  })

  it('goes on with JSON that is no record', () => {
    const text = '2026-11-21 02:13:10 ERROR x : answered\n{"error":"no"}\n{\n}'
    expect(shown(text)).toEqual([['2026-11-21T02:13:10.000Z', 'ERROR', text]])
  })

  it('keeps what comes before the first record, as a record of its own', () => {
    expect(shown('  .   ____\n  banner\n2026-11-21 02:13:10 INFO x')).toEqual([
      [null, null, '  .   ____\n  banner'],
      ['2026-11-21T02:13:10.000Z', 'INFO', '2026-11-21 02:13:10 INFO x'],
    ])
  })

  it('does not take the C library for a part of the record before it', () => {
    expect(
      shown(
        '2026-11-21 02:13:10 INFO x\nFatal glibc error: CPU does not support x86-64-v3\n2026-11-21 02:14:10 INFO y',
      ),
    ).toEqual([
      ['2026-11-21T02:13:10.000Z', 'INFO', '2026-11-21 02:13:10 INFO x'],
      [null, null, 'Fatal glibc error: CPU does not support x86-64-v3'],
      ['2026-11-21T02:14:10.000Z', 'INFO', '2026-11-21 02:14:10 INFO y'],
    ])
  })

  it('has records without a level, and lines that only look like a start', () => {
    expect(shown('2026-11-21 02:13:10 hello\n2026-11-21 is a Saturday\n2026-11-21 02:13:10.5x no')).toEqual([
      [
        '2026-11-21T02:13:10.000Z',
        null,
        '2026-11-21 02:13:10 hello\n2026-11-21 is a Saturday\n2026-11-21 02:13:10.5x no',
      ],
    ])
  })

  it.each([
    ['', []],
    ['\n\n', []],
    ['one line', [[null, null, 'one line']]],
    [
      '2026-11-21 02:13:10 INFO x\r\n\tat y\r\n',
      [['2026-11-21T02:13:10.000Z', 'INFO', '2026-11-21 02:13:10 INFO x\n\tat y']],
    ],
  ])('%j', (text, records) => {
    expect(shown(text)).toEqual(records)
  })

  it('refuses a time zone that does not exist', () => {
    expect(() => splitRecords('x', 'Mars/Olympus')).toThrow(RangeError)
  })
})
