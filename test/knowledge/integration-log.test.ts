import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressesInLog } from '../../src/domain/integrations/addresses.ts'
import type { LogRecord } from '../../src/core/sources.ts'
import { loggedCalls } from '../../src/knowledge/log-signatures.ts'

const record = (text: string): LogRecord => ({ at: null, level: null, text })
const call = (text: string, thread = 'scheduling-1'): LogRecord =>
  record(`2026-11-22 10:00:00.000 DEBUG 1 --- [app] [${thread}] a.B : ${text}`)

test('calls as OkHttp writes them, with and without words, and those that failed by the call before them', () => {
  const calls = loggedCalls([
    call('--> GET https://a.example.org/rest?x=1 http/1.1'),
    call('--> POST https://b.example.org:8443/api', 'scheduling-2'),
    call('--> END GET'),
    call('<-- HTTP FAILED: java.net.SocketTimeoutException: timeout'),
    call('<-- 201 https://bob:pw@b.example.org:8443/api (12ms, 3-byte body)', 'scheduling-2'),
    call('<-- HTTP FAILED: java.io.IOException: Canceled'),
    call('<-- END HTTP (31-byte body)'),
  ])
  expect(calls.map(({ url, host, status, failure }) => ({ url, host, status, failure }))).toEqual([
    {
      url: 'https://a.example.org/rest',
      host: 'a.example.org',
      status: null,
      failure: 'java.net.SocketTimeoutException: timeout',
    },
    { url: 'https://b.example.org:8443/api', host: 'b.example.org:8443', status: 201, failure: null },
  ])
})

test('of an address whose path holds a key, the host alone is told', () => {
  const [told] = loggedCalls([
    call('<-- 401 Unauthorized https://hooks.example.org/services/T0000/abcdefghij0123456789ABCD (8ms, 2-byte body)'),
  ])
  expect(told).toMatchObject({ url: 'https://hooks.example.org/', host: 'hooks.example.org', status: 401 })
})

test('a failure without a call before it is nameless where its exception names no host', () => {
  expect(loggedCalls([call('<-- HTTP FAILED: java.net.SocketTimeoutException: timeout')])).toMatchObject([
    { url: null, host: null },
  ])
})

test('no text is too strange to read', () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '<-- 401 ',
      '--> GET ',
      'https://',
      'http://[',
      '<-- HTTP FAILED: ',
      ' (1ms)',
      '400 bad request',
      '\n',
      '--- [a] ',
    ),
  )
  fc.assert(
    fc.property(fc.array(fc.array(piece).map((parts) => record(parts.join('')))), (records) => {
      for (const { url } of loggedCalls(records)) expect(url === null || URL.canParse(url)).toBe(true)
      for (const url of addressesInLog(records, new Set())) expect(URL.canParse(url)).toBe(true)
    }),
  )
})

test('the addresses of external systems, one to a host, without own parts, and not without end', () => {
  const many = Array.from({ length: 30 }, (_, index) => record(`java.net.UnknownHostException: h${index}.example.org`))
  const records = [
    record('java.net.UnknownHostException: a.example.org'),
    record('java.net.UnknownHostException: mq'),
    call('<-- 401 Unauthorized https://a.example.org/rest (1ms)'),
  ]
  expect(addressesInLog(records, new Set(['mq']))).toEqual(['https://a.example.org/rest'])
  expect(addressesInLog(many, new Set())).toHaveLength(20)
})
