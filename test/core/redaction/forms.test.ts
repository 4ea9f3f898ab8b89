import { expect, test } from 'vitest'
import { withoutSecrets } from '../../../src/core/redaction/index.ts'
import { spread } from '../../support/campaign.ts'

/** Values that begin, end or are written as something else does. */
const values: readonly [string, readonly string[]][] = [
  ['hexadecimal first', ['abcdef12hunter', 'deadbeefcafe', '0a1b2c3d4e5f', 'FACE0ff1ce', 'c0ffee-0001-babe']],
  [
    'a scheme first',
    [
      '{noop}Hunter2',
      '{SSHA}SHVudGVyMnNlY3JldA==',
      '{bcrypt}$2a$10$Hunter2secret',
      '{cipher}abcdef0123456789',
      '{pbkdf2@Spring_v5_8}0123abcdef',
    ],
  ],
  ['padding last', ['SHVudGVyMnNlY3JldA==', 'SHVudGVyMnNlY3JldDE=', 'Hunter2=', 'Hunter2==']],
  [
    'escapes of JSON',
    ['Hunter\\"2secret', 'Hunter2\\u003dsecret', 'Hunter2\\u0026abcd1', '\\u0048unter2secret', 'Hunter2\\/secret'],
  ],
  ['percents', ['Hunter2%3Dsecret%3D', '%48unter2secret', '%7Bnoop%7DHunter2', 'Hunter2%2Fsecret', 'abcdef12%3D%3D']],
]
const quoted = ['', '"', "'"]

/** A value after a sign, with and without marks around it. */
const settings = [
  ...[
    'password=',
    'password: ',
    'password -> ',
    'password->',
    'password => ',
    'password=>',
    'password \u2192 ',
    '"password":',
    '"password" : ',
    "'password' => ",
    'spring.datasource.password=',
    'apiToken=',
    'adminPw=',
    'pw: ',
    'pswd=',
    '_csrf=',
    'csrf: ',
    'pass=',
    'pass: ',
    'DB_PASS=',
    'client-key-data: ',
    'пароль: ',
  ],
  ...[
    'password\\u003d',
    'password\\u003D',
    'password\\u{3d}',
    'password\\x3d',
    '\\"password\\":',
    '\\u0022password\\u0022:',
    'password%3D',
    'password%253d',
    'password&#61;',
    'password&#x3D;',
  ],
  ...[
    '--password ',
    '--password=',
    'redis-cli -a ',
    'redis-cli -h cache -p 6379 -a ',
    'sshpass -p ',
    'sshpass -p',
    'docker login -u bob -p ',
    'mysql -u root -p',
    'AUTH ',
    'AUTH default ',
    'auth default ',
    '> AUTH bob ',
    'rabbitmqctl add_user bob ',
    'rabbitmqctl change_password bob ',
    "rabbitmqctl authenticate_user 'bob' ",
  ],
]
/** The same between marks of their own. */
const enclosed: readonly [string, (value: string) => string][] = [
  ['a pair', (it) => `["password","${it}"]`],
  ['a pair of bytes', (it) => `("password", "${it}")`],
  ['a parameter', (it) => `binding (password, ${it})`],
  ['an option in a list', (it) => `["--password","${it}"]`],
  ['redis-cli in a list', (it) => `["redis-cli","-a","${it}"]`],
  ['mysql in a list', (it) => `["mysql","-p${it}"]`],
  ['identified', (it) => `CREATE USER bob IDENTIFIED BY '${it}'`],
  ['a role', (it) => `ALTER ROLE bob PASSWORD '${it}'`],
  ['as MONITOR shows it', (it) => `"AUTH" "default" "${it}"`],
  ['a login', (it) => `curl -u bob:${it} https://host/x`],
  ['a login in marks', (it) => `curl --user "bob:${it}" host`],
  ['a query', (it) => `https://host/x?password=${it}&x=1`],
  ['an element', (it) => `<password>${it}</password>`],
]
const forms: readonly [string, (value: string) => string][] = [
  ...settings.flatMap((before) =>
    quoted.map((mark): [string, (value: string) => string] => [
      `${before}${mark}\u2026${mark}`,
      (value) => `${before}${mark}${value}${mark}`,
    ]),
  ),
  ...enclosed,
]
const unicode = (line: string): string =>
  [...line].map((it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const packings: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => `2026-11-22 10:30:01.123 ERROR 1 --- [main] c.e.Api : ${line} and more`,
  (line) => JSON.stringify({ message: line, level: 'ERROR' }),
  (line) => JSON.stringify({ message: JSON.stringify({ message: line }) }),
  (line) => encodeURIComponent(line),
  unicode,
]

/** What the value is known by, its scheme and the digits of its escapes aside. */
function partsOf(value: string): string[] {
  return value
    .replace(/^(?:\{|%7B)[^}]*?(?:\}|%7D)/, '')
    .split(/\\u[\da-f]{4}|%[\dA-F]{2}|[^A-Za-z\d]/)
    .filter((part) => part.length >= 3)
}

test.each(forms.map(([what, form], at) => [what, form, at] as const))('no value stays after %s', (_, form, at) => {
  for (const [kind, all] of values) {
    for (const [index, value] of all.entries()) {
      // forms come in threes, one for each mark
      for (const pack of spread(packings, 3, (at + Math.floor(at / 3) + index) % 3)) {
        const text = pack(form(value))
        const clean = withoutSecrets(text)
        const rest = clean.replaceAll('[secret]', '')
        const left = partsOf(value).filter((part) => rest.includes(part) || rest.includes(unicode(part)))
        expect({ kind, text, clean, left }).toEqual({ kind, text, clean, left: [] })
        expect(withoutSecrets(clean)).toBe(clean)
      }
    }
  }
})
