import { describe, expect, it } from 'vitest'
import type { ScanOptions } from '../../../src/logs/scan/scanner.ts'
import { cause, lineCounts, scanned } from './scanned.ts'

/** Lines, records and the times of what was found. */
function found(log: string, options: Partial<ScanOptions> = {}): unknown {
  const cut = [[Infinity], [1], [100]].map((sizes) => scanned(log, options, sizes))
  for (const it of cut) expect(it).toEqual(cut[0])
  return Object.fromEntries(
    cut[0]!.causes.map(({ id, count, records, first, last }) => [
      id,
      [count, records, first?.toISOString() ?? null, last?.toISOString() ?? null],
    ]),
  )
}
const at = (second: number): string => `2026-11-22T12:00:0${second}.000Z`
const colour = (text: string): string => `\x1b[32m${text}\x1b[0m`

describe('records in a stream', () => {
  it.each([
    ['blank and comma', '', '2026-11-22 12:00:01,000 ERROR'],
    ['T and offset', '', '2026-11-22T13:00:01.000+01:00 ERROR'],
    ['T and Z', '', '2026-11-22T12:00:01.000Z ERROR'],
    ['kubectl logs --prefix', '[pod/testops-7d9/testops] ', '2026-11-22 12:00:01.000 ERROR'],
    ['kubectl logs --timestamps', '2026-11-22T12:00:05.123456789Z ', '2026-11-22 12:00:01.000 ERROR'],
    ['the files of a node', '2026-11-22T12:00:05.123456789+03:00 stderr F ', '2026-11-22 12:00:01.000 ERROR'],
    ['both', '[pod/testops-7d9/testops] 2026-11-22T12:00:05.123456789+03:00 ', '2026-11-22 12:00:01.000 ERROR'],
    ['docker compose logs', 'testops-1  | ', '2026-11-22 12:00:01.000 ERROR'],
    ['the same in colours', colour('testops-1  | '), `${colour('2026-11-22 12:00:01.000')} ERROR`],
    ['Compose 1', 'testops_1  | ', '2026-11-22 12:00:01.000 ERROR'],
    ['a mark of UTF-8', '\ufeff', '2026-11-22 12:00:01.000 ERROR'],
    ['journalctl -o short-iso', '2026-11-22T12:00:07+0000 box testops[123]: ', '2026-11-22 12:00:01.000 ERROR'],
    ['rsyslog', '2026-11-22T15:00:07.123456+03:00 box testops[123]: ', '2026-11-22 12:00:01.000 ERROR'],
    ['journalctl', 'Nov  2 12:00:07 box testops[123]: ', '2026-11-22 12:00:01.000 ERROR'],
  ])('begin with their date: %s', (_, prefix, date) => {
    const log =
      `${prefix}${date} java.net.UnknownHostException: a.b\n${prefix}${date} x\n${prefix}\tat HTTP ` +
      `FAILED\n${prefix}HTTP FAILED\n`
    expect(found(log)).toEqual({ 'unknown-host': [1, 1, at(1), at(1)], 'http-failed': [2, 1, at(1), at(1)] })
  })

  it.each([
    ['Logstash', '{"@timestamp":"2026-11-22T12:00:01.000Z","message":"HTTP FAILED"}'],
    ['milliseconds', '{"message":"HTTP FAILED","timestamp":1795348801000}'],
    ['seconds', '{"time":1795348801.0,"message":"HTTP FAILED"}'],
    [
      "Spring Boot's Logstash",
      '{"@timestamp":"2026-11-22T14:00:01.000000681+02:00","@version":"1","message":"HTTP FAILED"}',
    ],
    ['with its zone', '{"@timestamp":"2026-11-22T14:00:01+02:00[Europe/Berlin]","message":"HTTP FAILED"}'],
    ["Spring Boot's GELF", '{"version":"1.1","short_message":"HTTP FAILED","timestamp":1.795348801000E9,"level":3}'],
    ['milliseconds in quotes', '{"@timestamp":"1795348801000","message":"HTTP FAILED"}'],
    ["Log4j's instant", '{"instant":{"epochSecond":1795348801,"nanoOfSecond":118000000},"message":"HTTP FAILED"}'],
    ["Log4j's timeMillis", '{"thread":"main","timeMillis":1795348801000,"message":"HTTP FAILED"}'],
    [
      "Google's seconds",
      '{"severity":"ERROR","timestampSeconds":1795348801,"timestampNanos":118000000,"message":"HTTP FAILED"}',
    ],
    ['journalctl -o json', '{"__CURSOR":"s=1","__REALTIME_TIMESTAMP":"1795348801000000","MESSAGE":"HTTP FAILED"}'],
    [
      'what is called a time and is none',
      '{"request":{"time":"12ms","date":"2020-01-01T00:00:00Z"},"message":"HTTP ' +
        'FAILED","@timestamp":"2026-11-22T12:00:01Z"}',
    ],
    [
      'JSON in JSON',
      String.raw`{"log":"{\"@timestamp\":\"2026-11-22T12:00:01.000Z\",\"message\":\"HTTP FAILED\"}\n",` +
        '"stream":"stdout","time":"2026-11-22T12:00:05.1Z"}',
    ],
    ['what a collector made of it', '{"log":"HTTP FAILED","date":1795348801.0}'],
    [
      'docker compose logs',
      'testops-1  | {"time" : "2026-11-22T12:00:01Z","message":"HTTP FAILED \\"time\\": \\"2020-01-01T00:00:00Z\\""}',
    ],
  ])('are one a line of JSON: %s', (_, line) => {
    expect(found(`${line}\n${line}\n`)).toEqual({ 'http-failed': [2, 2, at(1), at(1)] })
  })

  it('are those of the service in the files of Docker', () => {
    const lines = [
      '\u001b[2m2026-11-22 12:00:01.000\u001b[0m ERROR x : failed',
      '\tat a.B',
      'Caused by: HTTP FAILED',
      '',
      'HTTP FAILED',
      `2026-11-22 12:00:02.000 ERROR x : HTTP FAILED ${'x'.repeat(10_000)}`,
    ]
    const log = lines
      .map(
        (log) => `${JSON.stringify({ log: `${log}\n`, stream: 'stdout', time: '2026-11-22T12:00:05.123456789Z' })}\n`,
      )
      .join('')
    expect(found(log)).toEqual({ 'http-failed': [3, 2, at(1), at(2)] })
  })

  it('without a time of their own are of when they were printed, where that is known', () => {
    const stamp = (second: number): string => `2026-11-22T12:00:0${second}.000000000Z `
    const log =
      `${stamp(1)}Fatal glibc error: CPU does not support x86-64-v3\n${stamp(2)}HTTP FAILED\n${stamp(3)}\tat ` +
      `HTTP FAILED\n${stamp(4)}HTTP FAILED\n`
    expect(found(log)).toEqual({ 'cpu-level': [1, 1, at(1), at(1)], 'http-failed': [3, 2, at(2), at(4)] })
    expect(scanned(log)).toMatchObject({
      datesUnknown: false,
      from: new Date(at(1)),
      to: new Date(at(4)),
      causes: [{ untimed: 0 }, { untimed: 0 }],
    })
    expect(lineCounts(scanned(log, { since: new Date(at(3)) }))).toEqual({ 'http-failed': 1 })
    expect(found('2026-11-22T12:00:01+0000 box testops[1]: HTTP FAILED\n')).toEqual({
      'http-failed': [1, 1, at(1), at(1)],
    })
  })

  it('name hosts in JSON without what quotes them', () => {
    const exception = 'java.net.UnknownHostException: jira.example.org'
    const log = [`${exception}`, `${exception}\n\tat x\nCaused by: ${exception}: y`]
      .map((message) => `${JSON.stringify({ time: at(1), message })}\n`)
      .join('')
    expect(Object.fromEntries(cause(scanned(log), 'unknown-host').hosts)).toEqual({ 'jira.example.org': 2 })
  })

  it('of several containers are kept apart by their prefixes', () => {
    const log = [
      '[pod/a/x] 2026-11-22 12:00:01.000 ERROR x : failed',
      '[pod/b/x] 2026-11-22 12:00:02.000 ERROR x : failed',
      '[pod/a/x] Caused by: java.net.UnknownHostException: a.b',
      '[pod/b/x] Caused by: HTTP FAILED',
      '[pod/a/x] Caused by: java.net.UnknownHostException: a.b',
      '[pod/b/x] 2026-11-22 12:00:04.000 ERROR x : java.net.UnknownHostException: a.b',
      '[pod/a/x] 2026-11-22 12:00:03.000 ERROR x : java.net.UnknownHostException: a.b',
      '',
    ].join('\n')
    expect(found(log)).toEqual({ 'unknown-host': [4, 3, at(1), at(4)], 'http-failed': [1, 1, at(2), at(2)] })
    // the clocks of two containers have nothing to do with each other
    expect(scanned(log).backward.steps).toBe(0)
  })

  it('are kept apart so late in a stream, too', () => {
    const filler = '[pod/a/x] 2026-11-22 12:00:01.000 INFO x : ok\n'.repeat(3000)
    const log =
      `${filler}[pod/b/x] 2026-11-22 12:00:02.000 ERROR x : failed\n` + `${filler}[pod/b/x] Caused by: HTTP FAILED\n`
    expect(cause(scanned(log, {}, [1000]), 'http-failed')).toMatchObject({
      records: 1,
      first: new Date(at(2)),
      firstLine: 6002,
    })
  })

  it('are not begun by what only looks like a prefix', () => {
    const log =
      '2026-11-22 12:00:01.000 ERROR x : failed\nname    | HTTP FAILED\n2026-11-22 12:00:02.000 INFO x : ' +
      '{"a":\n{"b": "400 bad request"}\n'
    expect(found(log)).toEqual({ 'http-failed': [1, 1, at(1), at(1)], 'bad-request': [1, 1, at(2), at(2)] })
  })

  it('bear times of a zone where there is no offset, and unknown ones where no zone is known', () => {
    const log = '2026-11-22 12:00:01.000 ERROR x : HTTP FAILED\n'
    expect(found(log, { timeZone: 'Europe/Berlin' })).toEqual({
      'http-failed': [1, 1, '2026-11-22T11:00:01.000Z', '2026-11-22T11:00:01.000Z'],
    })
    expect(found(log, { timeZone: null })).toEqual({ 'http-failed': [1, 1, null, null] })
    expect(scanned(log, { timeZone: null })).toMatchObject({
      datesUnknown: false,
      from: null,
      to: null,
      causes: [{ untimed: 1 }],
    })
  })

  it('with dates in an unknown form are told by their look, and their times are unknown', () => {
    const log = (
      'Nov 22, 2026 12:00 PM failed\n\tat HTTP FAILED\nCaused by: HTTP FAILED\n... 3 more\n}\nNov 22, 2026 ' +
      '12:01 PM HTTP FAILED\n'
    ).repeat(2000)
    expect(found(log)).toEqual({ 'http-failed': [6000, 4000, null, null] })
    expect(scanned(log)).toMatchObject({
      datesUnknown: true,
      from: null,
      to: null,
      lines: 12_000,
      causes: [{ untimed: 6000, firstLine: 2 }],
    })
  })

  it('may come before the first date, where what the C library prints is one of its own', () => {
    const fatal = 'Fatal glibc error: CPU does not support x86-64-v3\n'
    expect(found(fatal)).toEqual({ 'cpu-level': [1, 1, null, null] })
    const log = `2026-11-22 12:00:01.000 INFO x : HTTP FAILED\n${fatal}2026-11-22 12:00:03.000 INFO x : y\n`
    expect(found(log)).toEqual({ 'http-failed': [1, 1, at(1), at(1)], 'cpu-level': [1, 1, null, null] })
    // it goes with the record before it
    expect(lineCounts(scanned(log, { since: new Date(at(2)) }))).toEqual({})
    expect(lineCounts(scanned(log, { until: new Date(at(2)) }))).toEqual({ 'http-failed': 1, 'cpu-level': 1 })
    expect(lineCounts(scanned(fatal, { since: new Date(at(2)) }))).toEqual({ 'cpu-level': 1 })
  })

  it('tell of clocks that run backwards, of up to 1000 containers', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `[pod/a-${index}/a] 2026-11-22 12:00:05.000 HTTP FAILED`)
    const log = [...lines, '[pod/a-999/a] HTTP FAILED', '[pod/a-0/a] 2026-11-22 12:00:01.000 HTTP FAILED'].join('\n')
    expect(scanned(log).backward.steps).toBe(1)
  })

  it('tell of a clock that runs backwards, by more than a second', () => {
    const log = ['05.000', '04.000', '02.999', '04.000', '01.000']
      .map((second) => `2026-11-22 12:00:${second} ERROR x : HTTP FAILED\n`)
      .join('')
    expect(scanned(log)).toMatchObject({ backward: { steps: 2 }, from: new Date(at(1)), to: new Date(at(5)) })
  })
})
