import { describe, expect, it } from 'vitest'
import { volatileLook } from '../../src/results/looks/volatile-look.ts'
import { begin } from './rules/support.ts'

const day = 86_400_000
const iso = (ms: number): string => new Date(ms).toISOString()

const seen: readonly (readonly [what: string, values: readonly (string | readonly [value: string, name: string])[]])[] =
  [
    [
      'a UUID',
      [
        '7f9c24e8-3b12-4d5a-9c0e-8f1a2b3c4d5e',
        '7F9C24E8-3B12-4D5A-9C0E-8F1A2B3C4D5E',
        '{7f9c24e8-3b12-4d5a-9c0e-8f1a2b3c4d5e}',
        "'7f9c24e8-3b12-4d5a-9c0e-8f1a2b3c4d5e'",
        'urn:uuid:7f9c24e8-3b12-4d5a-9c0e-8f1a2b3c4d5e',
        '550e8400-e29b-41d4-a716-446655440000',
        '018f2b1c-7d3e-7a4b-8c5d-6e7f8a9b0c1d',
        'user_7f9c24e8-3b12-4d5a-9c0e-8f1a2b3c4d5e',
        '/api/orders/7f9c24e8-3b12-4d5a-9c0e-8f1a2b3c4d5e/lines',
      ],
    ],
    [
      'a time',
      [
        '2026-11-22T10:00:00.123Z',
        '2026-11-22T10:00:00',
        '2026-11-22T13:00:05+03:00',
        '2026-11-22T13:00:05.123456789+03:00[Europe/Moscow]',
        '2026-11-22 10:15:30',
        '2026-11-22 10:15:30,123',
        "'2026-11-22T10:15:30'",
        '"2026-11-22T10:15:30.000Z"',
        '2026-03-04 10:15',
        '2023-03-04 10:15:01',
        '2023-03-04T10:15:00.123Z',
        '2026/11/22 10:15:30',
        '22.11.2026 10:15',
        '22.11.2026, 10:15:30',
        '11/22/2026 3:45 PM',
        '11/22/2026, 3:45:09 PM',
        'Sun, 22 Nov 2026 10:00:00 GMT',
        'Sun Nov 22 10:00:00 UTC 2026',
        'Sun Nov 22 10:00:00 MSK 2026',
        'Sun Nov 22 2026 10:00:00 GMT+0000 (Coordinated Universal Time)',
        'Nov 22, 2026, 10:00:01 AM',
        '22 November 2026 10:00',
        '20261122T100000Z',
        '20261122100000',
        '20261122100000123',
        '2026-11-22_10-00-00',
        '2026_11_22_10_00_00',
        'report-2026-11-22T10-00-00.csv',
        'backup_20261122_100000.zip',
        'made at 2026-11-22 10:00:00 by a test',
      ],
    ],
    [
      'the date of the run',
      [
        '2026-11-22',
        '2026-11-21',
        '22.11.2026',
        '11/22/2026',
        '22/11/2026',
        '20261122',
        '22 Nov 2026',
        'November 22, 2026',
        'order 2026-11-23',
        'report_20261122.csv',
      ],
    ],
    [
      'the time of the run as a Unix timestamp',
      [
        `${begin}`,
        `${begin / 1000}`,
        `${begin / 1000}.123456`,
        `${begin}000`,
        `${begin}000000`,
        `user${begin + 500}`,
        `test+${begin - 90}@example.com`,
        `id-${begin - day + 1}`,
      ],
    ],
    [
      'a long random id',
      [
        '507f1f77bcf86cd799439011',
        '9e107d9d372bb6826bd81d3542a419d6',
        'DA39A3EE5E6B4B0D3255BFEF95601890AFD80709',
        'session-9e107d9d372bb6826bd81d3542a419d6',
        'x3Jk9QwP7zLm2VbN8rTy5HgF',
        "'x3Jk9QwP7zLm2VbN8rTy5HgF'",
        'V1StGXR8_Z5jdHi6B-myT',
        'Zk3uX0m9Qe7Lr2TtYb5Pw8Ns1Vg4Hd6J+/==',
      ],
    ],
    ['a ULID', ['01KAPQ5X9GZ8N3V6Y7RJ4TQWEB', '01kapq5x9gz8n3v6y7rj4tqweb']],
    [
      'a path that depends on the machine or the run',
      [
        '/tmp/upload-1/a.txt',
        '/tmp/junit5',
        'file:///tmp/a.txt',
        '/private/var/folders/zz/T/a.txt',
        '/var/folders/zz/T/a.txt',
        '/var/tmp/x',
        '/home/jenkins/workspace/shop/a.csv',
        '/Users/anna/shop/a.csv',
        '/builds/shop/shop/a.csv',
        '/root/.cache/a',
        '/var/lib/jenkins/workspace/shop',
        '/github/workspace/a.csv',
        '/__w/shop/shop/a.csv',
        ['/home/runner', 'HOME'],
        'C:\\Users\\anna\\a.csv',
        'C:\\\\Users\\\\anna\\\\a.csv',
        'C:/Users/anna/a.csv',
        'C:\\Windows\\Temp\\a.csv',
        'D:\\a\\shop\\shop\\a.csv',
        'D:\\a\\1\\s\\a.csv',
        'D:\\jenkins\\workspace\\shop',
        'data from "/home/anna/data.csv"',
      ],
    ],
    [
      'the address of an object in memory',
      [
        'Foo@1b2c3d4',
        'com.example.shop.Order@5e91993f',
        '[I@1b2c3d4',
        '[Ljava.lang.String;@1b2c3d4',
        '[Foo@1b2c3d4, Foo@2b3c4d5]',
        'Test$$Lambda$14/0x0000000800066840@2a139a55',
        '<shop.Order object at 0x7f3c5e2a1d90>',
        '<function f at 0x7f3c5e2a1d90>',
        '0xc000123456',
      ],
    ],
    [
      'a port that the system picks at each start',
      [
        'localhost:49153',
        '127.0.0.1:43211',
        '[::1]:43211',
        'http://localhost:38211/login',
        'db.example.com:51234',
        'jdbc:postgresql://localhost:49157/test',
        'redis://cache:40123',
        ['43211', 'port'],
        ['43211', 'serverPort'],
        ['43211', 'server.port'],
        ['43211', 'PORT_2'],
        ['43211', 'httpPort'],
        'localhost:54321',
        ['49152', 'port'],
        ['32769', 'port'],
        ['65534', 'port'],
      ],
    ],
  ]

/** Data of tests, which stay as they are from run to run. */
const ordinary: readonly (string | readonly [value: string, name: string])[] = [
  '',
  '1',
  'true',
  'apple',
  'chrome',
  'Chrome 126.0.6478.127',
  'v1.2.3',
  '1.2.3-rc.4+build.5678',
  '2024.1',
  'null',
  '[object Object]',
  '10.0.0.1',
  '255.255.255.255',
  // dates of the test itself
  '2024-02-29',
  '1999-12-31',
  '2038-01-19',
  '01.01.2000',
  '29/02/2024',
  '20240229',
  '1970-01-01T00:00:00Z',
  '2024-02-29T00:00:00Z',
  '2025-12-31T23:59:59Z',
  '9999-12-31T23:59:59.999Z',
  '0001-01-01 00:00:01',
  '1900-01-01 12:00',
  '12:30',
  '10:15:30',
  '2026',
  '2026-11',
  'Nov 2026',
  'Q4 2026',
  '2024-13-45 10:00',
  '2024-06-01T12:00:00.000Z',
  '01/06/2024 9:30 AM',
  '01.06.2024 09:30',
  '01.06.2024 09:30:00,000',
  'before 2024-05-01 10:00 there was no discount',
  'P1Y2M3DT4H5M6S',
  '2020-01-01/2020-12-31',
  // numbers
  '0',
  '1000000',
  '1234567890',
  '9876543210',
  '2147483647',
  '4294967295',
  '9223372036854775807',
  '1000000000000',
  '1500000000000',
  '3.141592653589793',
  '12345678901234567890',
  '0.1795341600',
  '-273.15',
  '4111111111111111',
  '4111 1111 1111 1111',
  '5500-0000-0000-0004',
  '+7 916 123-45-67',
  '+49 (30) 123456',
  '79161234567',
  '7707083893',
  '112-233-445 95',
  'DE89370400440532013000',
  'GB29NWBK60161331926819',
  'MT84MALT011000012345MTLCAST001S',
  'FR1420041010050500013M02606',
  // ids that people make up
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '11111111-1111-1111-1111-111111111111',
  '12345678-1234-1234-1234-123456789012',
  '00000000-0000-4000-8000-000000000001',
  'deadbeef',
  'deadbeefdeadbeefdeadbeef',
  '0123456789abcdef0123456789abcdef',
  '000000000000000000000000',
  'ffffffffffffffffffffffffffffffff',
  'aaaaaaaaaaaaaaaaaaaaaaaa1',
  'ORDER-000123',
  'PROJ-4711',
  'sku_12345',
  'abc123',
  '#ff8800',
  'a1b2c3d',
  'someVeryLongMethodNameThatGoesOn',
  'ThisIsVersion2OfTheTest3AndMore4',
  'test_user_with_a_very_long_name_1',
  'com.example.shop.cart.CartServiceImpl2',
  'dGVzdDp0ZXN0MTIzNDU2Nzg5MDEyMw==',
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'XXXXX-11111-YYYYY-22222-ZZZZZ',
  ['9e107d9d372bb6826bd81d3542a419d6', 'md5'],
  ['2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae', 'expectedHash'],
  'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.' +
    'SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c',
  // paths of a site or of the tests
  '/',
  '/login',
  '/api/v1/users/42',
  '/home',
  '/home/',
  '/home/products',
  '/users/42/orders',
  '/Users/5',
  '/root',
  '/builds',
  '/tmp',
  'tmp/a.txt',
  'src/test/resources/data.csv',
  '../fixtures/a.json',
  '/usr/bin/java',
  '/etc/hosts',
  '/opt/app/data.csv',
  'C:\\Windows\\System32',
  'C:\\data\\a.csv',
  'C:\\a\\b\\c\\d',
  '\\\\server\\share\\a.csv',
  'https://example.com/home/anna/photos',
  'https://example.com/tmp/a.txt',
  'http://tmp/a',
  ['/home/anna/photos', 'url'],
  ['/root/child/leaf', 'route'],
  'text/html; charset=utf-8',
  'application/json',
  '50% off / today',
  'and/or',
  'N/A 2/3',
  // ports
  'localhost',
  'localhost:8080',
  'localhost:5432',
  '127.0.0.1:3000',
  'http://localhost:4200/cart',
  'grpc.example.com:50051',
  'kafka:9092',
  'localhost:44301',
  'localhost:40000',
  'order:45679',
  'ratio 1:45679',
  'Cart.java:41234x',
  ['8080', 'port'],
  ['65535', 'port'],
  ['65536', 'port'],
  ['32767', 'port'],
  ['50000', 'port'],
  ['43211', 'report'],
  ['43211', 'passport'],
  ['43211', 'transport'],
  ['43211', 'amount'],
  ['43211', 'support id'],
  // addresses and sentences
  'anna@example.com',
  'bob1@mail.example.org',
  'Bob@1a2b3c4d.com',
  'user@cafe',
  '@1b2c3d4',
  'git@github.com:shop/cart.git',
  'A sentence with 2 numbers, and 1 more; it is long enough to be looked at for all of them.',
  'Ivan paid 1,234.56 EUR at 10:15',
  'x = 0x7f and y = 0xFF',
  '0xDEADBEEF',
  'SELECT * FROM orders WHERE id = 42',
  '{"a":1,"b":[1,2,3]}',
  'Привет, мир 123',
  '日本語テキスト2026',
  '😀😀😀😀😀1',
]

const pair = (it: string | readonly [string, string]): readonly [string, string] =>
  typeof it === 'string' ? [it, 'value'] : it

describe('what changes from run to run', () => {
  it.each(seen.flatMap(([what, values]) => values.map((it) => [what, ...pair(it)] as const)))(
    '%s: %s (%s)',
    (what, value, name) => {
      expect(volatileLook(value, name, begin)).toEqual({
        what,
        ...(what === 'the date of the run' && { isOfDay: true }),
      })
    },
  )

  it('a token that was issued for the run is no value to show', () => {
    const token = (payload: object): string =>
      ['{"alg":"HS256","typ":"JWT"}', JSON.stringify(payload), 'signature']
        .map((part) => Buffer.from(part).toString('base64url'))
        .join('.')
    const look = { what: 'a token that was issued for the run', isSecret: true }
    expect(volatileLook(token({ sub: 'anna', iat: begin / 1000 }), 'value', begin)).toEqual(look)
    expect(volatileLook(token({ sub: 'anna', exp: begin / 1000 + 3600 }), 'value', begin)).toEqual(look)
    expect(volatileLook(token({ sub: 'anna', iat: 1516239022 }), 'value', begin)).toBeNull()
  })

  it.each(ordinary.map(pair))('nothing: %s (%s)', (value, name) => {
    expect(volatileLook(value, name, begin)).toBeNull()
  })
})

describe('without the time of the run', () => {
  it.each([
    ['2026-11-22T10:00:00Z', 'a time'],
    ['2026-11-22', undefined],
    [`${begin}`, undefined],
    ['at 2026-11-22T10:00:00Z', undefined],
    ['localhost:43211', 'a port that the system picks at each start'],
  ])('%s: %s', (value, what) => {
    expect(volatileLook(value, 'value', null)?.what).toBe(what)
    expect(volatileLook(value, 'value', 1000)?.what).toBe(what)
  })
})

describe('the distance from the run', () => {
  it.each([
    [iso(begin - 1800 * day + 1000).slice(0, 19), true],
    [iso(begin - 1900 * day + 1000).slice(0, 19), false],
    [iso(begin - 360 * day).slice(0, 19), true],
    [iso(begin - 370 * day).slice(0, 19), false],
    [`${begin + day}`, true],
    [`${begin + day + 1}`, false],
    [iso(begin + day).slice(0, 10), true],
    [iso(begin + 4 * day).slice(0, 10), false],
    [`${iso(begin).slice(0, 10)}T00:00:00Z`, true],
  ])('%s: %s', (value, isVolatile) => {
    expect(volatileLook(value, 'value', begin) !== null).toBe(isVolatile)
  })
})

it('looks at long values in a moment', () => {
  const values = [
    '1',
    '-',
    'a1',
    '/a',
    '2026-',
    '2026-11-22 ',
    'A.',
    '1:',
    'a@',
    '[',
    '\\a',
    'C:\\a\\',
    'a:40000',
    '0x',
    ' 1',
  ].map((part) => part.repeat(100_000))
  const began = process.cpuUsage()
  for (const value of values) volatileLook(value, 'value', begin)
  expect(process.cpuUsage(began).user).toBeLessThan(1_000_000)
})
