import { describe, expect, test } from 'vitest'
import { withoutSecrets } from '../../../src/core/redaction/index.ts'
import { leak, secretLines } from './lines.ts'

const unicode = (text: string): string =>
  [...text].map((it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
const html = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
const record = (message: string): string =>
  JSON.stringify({ '@timestamp': '2026-11-22T10:30:01Z', message, level: 'ERROR' })

/** How a line of a log may be packed. */
const packings: readonly [string, (line: string) => string][] = [
  ['as it is', (line) => line],
  ['behind others', (line) => `2026-11-22 10:30:01.123 ERROR 1 --- [main] c.e.Api : ${line}`],
  ['before others', (line) => `${line} and more`],
  ['in a record of JSON', record],
  ['in a record of a record', (line) => record(record(line))],
  ['three deep', (line) => record(record(record(line)))],
  ['with percent signs', (line) => encodeURIComponent(line)],
  ['with percent signs twice', (line) => encodeURIComponent(encodeURIComponent(line))],
  ['all of it', (line) => unicode(line)],
  ['as JSON in an address', (line) => `https://host/x?q=${encodeURIComponent(record(line))}`],
  ['on a page', (line) => `<td>${html(line)}</td>`],
  [
    'in a stack trace',
    (line) =>
      `java.lang.RuntimeException: ${line}\n\tat c.e.Api.call(Api.java:42)\nCaused by: java.io.IOException: ` +
      `${line}\n\tat c.e.Api.call(Api.java:17)`,
  ],
  ['in single quotation marks', (line) => `curl failed: '${line}'`],
  ['in brackets', (line) => `request [${line}] failed`],
  [
    'in small letters',
    (line) =>
      line
        .replace(/Hunter2secret/g, '\0')
        .toLowerCase()
        .replaceAll('\0', 'Hunter2secret'),
  ],
  [
    'in capitals',
    (line) =>
      line
        .replace(/Hunter2secret/g, '\0')
        .toUpperCase()
        .replaceAll('\0', 'Hunter2secret'),
  ],
]

describe.each(secretLines.map((line) => [line]))('%s', (line) => {
  test.each(packings)('%s', (_, pack) => {
    const text = pack(line)
    const clean = withoutSecrets(text)
    expect(clean).not.toMatch(leak)
    expect(clean).toContain('[secret]')
    expect(withoutSecrets(clean)).toBe(clean)
  })
})

test.each(secretLines.map((line) => [line]))(
  'nothing new is found once it is hidden, whatever stands beside it: %s',
  (line) => {
    for (const other of secretLines) {
      const clean = withoutSecrets(`${line}, ${other}`)
      expect(clean).not.toMatch(leak)
      expect(withoutSecrets(clean)).toBe(clean)
    }
  },
)

const names = [
  ...[
    'password',
    'Password',
    'PASSWORD',
    'passwd',
    'pwd',
    'passphrase',
    'db.password',
    'spring.datasource.password',
    'SPRING_DATASOURCE_PASSWORD',
    'PGPASSWORD',
    'DB_PASS',
    'dbPass',
    'rabbitPass',
    'RABBITPASS',
    'userPassword2',
  ],
  ...[
    'token',
    'apiToken',
    'api-token',
    'API_TOKEN',
    'accessToken',
    'access_token',
    'refresh_token',
    'PRIVATE-TOKEN',
    'X-XSRF-TOKEN',
    'Job-Token',
  ],
  ...[
    'secret',
    'client_secret',
    'clientSecret',
    'jwtSecret',
    'JWT_SECRET',
    'secretKey',
    'secret_key',
    'SECRETKEY',
    'apiKey',
    'api_key',
    'API-KEY',
    'apikey',
    'x-api-key',
    'accessKey',
    'privateKey',
    'aws_secret_access_key',
    'encryption.key',
  ],
  ...['JSESSIONID', 'sessionId', 'session_id', 'пароль', 'Пароль', 'ПАРОЛЬ', 'токен', 'секрет', 'api_токен'],
]
const signs = ['=', ':', ': ', ' = ', ' : ', ' => ', ':=', '=\t']
const marks = ['', '"', "'", '`']

describe('a name and its value', () => {
  test.each(names.map((name) => [name]))('%s', (name) => {
    for (const sign of signs) {
      for (const mark of marks) {
        for (const of of marks) {
          const text = `it has ${of}${name}${of}${sign}${mark}Hunter2secret${mark}, user=bob`
          expect(withoutSecrets(text)).toBe(`it has ${of}${name}${of}${sign}${mark}[secret]${mark}, user=bob`)
        }
      }
      expect(withoutSecrets(`${name}${sign}hunter`)).toBe(`${name}${sign}[secret]`)
    }
  })
})

describe('values', () => {
  test.each([
    // marks in a password are a part of it, and what follows is none
    ['password=Hunter2,secret!)x next', 'password=[secret] next'],
    ['password=Hunter2&secret;x user=bob', 'password=[secret] user=bob'],
    ['password=Hunter2"secret user=bob', 'password=[secret] user=bob'],
    ['password=Hunter2, user=bob', 'password=[secret], user=bob'],
    ['password=Hunter2;user=bob', 'password=[secret];user=bob'],
    ['{password=Hunter2}', '{password=[secret]}'],
    ['call(password=Hunter2)', 'call(password=[secret])'],
    ['"password":"Hunter2\\"secret","user":"bob"', '"password":"[secret]","user":"bob"'],
    [
      '{\\"password\\":\\"Hunter2\\\\\\"secret\\",\\"user\\":\\"bob\\"}',
      '{\\"password\\":\\"[secret]\\",\\"user\\":\\"bob\\"}',
    ],
    ['"password":"Hunter2secret', '"password":"[secret]'],
    ['"passwords":["Hunter2","hunter3"],"n":1', '"passwords":[[secret]],"n":1'],
    ['<password>Hunter2secret</password>', '<password>[secret]</password>'],
    ['<property name="password" value="Hunter2secret"/>', '<property name="password" value="[secret]"/>'],
    [
      '{"name":"DB_PASSWORD","value":"Hunter2secret"},{"name":"TZ","value":"UTC"}',
      '{"name":"DB_PASSWORD","value":"[secret]"},{"name":"TZ","value":"UTC"}',
    ],
    [
      '{"name":"TZ","value":"UTC"},{"value":"Hunter2secret","name":"DB_PASSWORD"}',
      '{"name":"TZ","value":"UTC"},{"value":"[secret]","name":"DB_PASSWORD"}',
    ],
    [
      '- name: TZ\n  value: UTC\n- name: DB_PASSWORD\n  value: Hunter2secret\n- name: A\n  value: b',
      '- name: TZ\n  value: UTC\n- name: DB_PASSWORD\n  value: [secret]\n- name: A\n  value: b',
    ],
    ['Header[name=Authorization, value=Hunter2secret]', 'Header[name=Authorization, value=[secret]]'],
    ['database:\n  password:\n    Hunter2secret\n  user: bob', 'database:\n  password:\n    [secret]\n  user: bob'],
    ['password: |\n  Hunter2\n  secret\nuser: bob', 'password: |\n  [secret]\n  [secret]\nuser: bob'],
    ['password:\n  file: /run/x', 'password:\n  file: /run/x'],
    ["ALTER USER bob WITH PASSWORD 'Hunter2secret' LOGIN", "ALTER USER bob WITH PASSWORD '[secret]' LOGIN"],
    ['AUTH Hunter2secret', 'AUTH [secret]'],
    ['requirepass Hunter2secret', 'requirepass [secret]'],
    ['curl -u bob:Hunter2secret https://host/x', 'curl -u [secret] https://host/x'],
    ['curl --user "bob:Hunter2secret" https://host/x', 'curl --user "[secret]" https://host/x'],
    [
      'Using generated security password: 78fa095d-3f4c-48b1-ad50-e24c31d5cf35',
      'Using generated security password: [secret]',
    ],
    ['the password for user anna: Hunter2secret', 'the password for user anna: [secret]'],
    ['secret key: Hunter2secret', 'secret key: [secret]'],
    ['Session ID: Hunter2secret', 'Session ID: [secret]'],
    ['секретный ключ: Hunter2secret', 'секретный ключ: [secret]'],
    [
      '%D0%BF%D0%B0%D1%80%D0%BE%D0%BB%D1%8C%3DHunter2secret%26x%3D1',
      '%D0%BF%D0%B0%D1%80%D0%BE%D0%BB%D1%8C%3D[secret]%26x%3D1',
    ],
    [
      '\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c: Hunter2secret',
      '\\u043f\\u0430\\u0440\\u043e\\u043b\\u044c: [secret]',
    ],
  ])('%s', (text, clean) => {
    expect(withoutSecrets(text)).toBe(clean)
    expect(withoutSecrets(clean)).toBe(clean)
  })
})

describe('what is secret by its form', () => {
  test.each([
    ['Authorization: Basic Ym9iOmdlaGVpbQ==', 'Authorization: [secret]'],
    ['"authorization":"Token 0a1b2c"', '"authorization":"[secret]"'],
    ['Authorization:[Basic Ym9iOmdlaGVpbQ==]', 'Authorization:[[secret]]'],
    ['Authorization: Digest username="bob", realm="x", response="Hunter2secret"', 'Authorization: [secret]'],
    [
      'Authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/x, SignedHeaders=host, Signature=Hunter2',
      'Authorization: [secret]',
    ],
    ['you sent Basic Ym9iOmdlaGVpbTk5', 'you sent Basic [secret]'],
    ['with Bearer abc.def_ghi', 'with Bearer [secret]'],
    ['refused eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IifQ.c2ln twice', 'refused [secret] twice'],
    ['http://bob:p@ss@tracker/x', 'http://[secret]@tracker/x'],
    ['amqp://bob:p/a#s?s@mq/vhost', 'amqp://[secret]@mq/vhost'],
    ['https://0123456789abcdefghij@tracker/x', 'https://[secret]@tracker/x'],
    ['from https://a/x?next=https://bob:geheim@b/y', 'from https://a/x?next=https://[secret]@b/y'],
    ['user:p@ss@host and bob:pw@db:5432', '[secret]@host and [secret]@db:5432'],
    ['url=user:Hunter2@host', 'url=[secret]@host'],
    ['GET https://h/x?access_token=abc&q=1', 'GET https://h/x?access_token=[secret]&q=1'],
    ['GET https://h/x?X-Amz-Signature=0a1b2c3d4e5f60718293&q=1', 'GET https://h/x?X-Amz-Signature=[secret]&q=1'],
    ['PRIVATE-TOKEN: abc', 'PRIVATE-TOKEN: [secret]'],
    ['key glpat-0123456789abcdef', 'key [secret]'],
    ['xoxb-123456789012-abcdef and github_pat_11ABC_def', '[secret] and [secret]'],
    ['X-Api-Key: abc', 'X-Api-Key: [secret]'],
    ['Set-Cookie: JSESSIONID=abc; Path=/; HttpOnly', 'Set-Cookie: [secret]'],
    ['-H "Cookie: a=1; b=2" https://h', '-H "Cookie: [secret]" https://h'],
    [`password='a b' user=bob`, "password='[secret]' user=bob"],
    [
      'https://hooks.example.org/services/T0000/B0000/abcdefghij0123456789ABCD',
      'https://hooks.example.org/services/T0000/B0000/[secret]',
    ],
    [
      'https://api.example.org/bot123456:abcdefghij0123456789/sendMessage',
      'https://api.example.org/[secret]/sendMessage',
    ],
    [
      'spring:session:sessions:expires:0b5cbb58-9c1f-4f6e-8d3b-0d5f2f1c8a11',
      'spring:session:sessions:expires:[secret]',
    ],
    ['member expires:0b5cbb58-9c1f-4f6e-8d3b-0d5f2f1c8a11', 'member expires:[secret]'],
  ])('%s', (text, clean) => {
    expect(withoutSecrets(text)).toBe(clean)
    expect(withoutSecrets(clean)).toBe(clean)
  })

  test('a private key is hidden to its last line, or to the end', () => {
    const key = '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nHunter2secret\n'
    expect(withoutSecrets(`a\n${key}-----END RSA PRIVATE KEY-----\nb`)).toBe(
      'a\n-----BEGIN RSA PRIVATE KEY-----\n[secret]\n[secret]\n-----END RSA PRIVATE KEY-----\nb',
    )
    expect(withoutSecrets(key)).toBe('-----BEGIN RSA PRIVATE KEY-----\n[secret]\n[secret]\n')
    expect(withoutSecrets(JSON.stringify({ key, b: 1 }))).not.toMatch(leak)
  })
})
