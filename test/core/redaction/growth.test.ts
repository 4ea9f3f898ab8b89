import { expect, test } from 'vitest'
import { withoutSecrets } from '../../../src/core/redaction/index.ts'
import { growthOf } from '../../patterns/growth.ts'

/** What a text may be made of that keeps a careless pattern busy. */
const parts: readonly string[] = [
  ...['password=', 'password:', 'password: ', 'password', 'password ', 'password="', "password='", 'password=[', 'password={', 'password:\n', 'password: |\n ', 'password is ', 'password for x ', '--password ', 'pass:', 'pass=', 'pass: a', 'pass', 'tokens:', 'auth:', 'session='],
  ...['"', "'", '`', '\\', '\\\\"', '\\"', '\\u0022', '\\u', '\\x2', '%25', '%', '%2', '%D0', '%F0%9F', '&amp;', '&amp;amp;', '&', '&#', ' ', '\t', '\n', ' \n', '=', ':', ';', ',', '@', '/', '://', '[', ']', '{', '}', '<', '>'],
  ...['user:', 'user:x@', 'user:x@host ', 'a@', '@a', 'http://', 'http://a', 'https://h/a1', 'https://h/a1b2c3d4e5f6a7b8c9d0/', '://a:b', '://a:b@', 'x://@', '/a', '?token=', '&a=b'],
  ...['cookie:', 'cookie: a=b; ', 'cookie: a="', 'set-cookie: a;', 'authorization: ', 'authorization: a ', 'authorization:[', 'Bearer ', 'Basic ', 'api-token ', 'eyJ', 'eyJhbGciOiJI.', 'glpat-', 'glpat-a', 'ghp_', 'xoxb-', 'AKIA', 'AIza', 'npm_', 'hvs.'],
  ...['-----BEGIN ', '-----BEGIN PRIVATE KEY-----', '-----BEGIN PRIVATE KEY-----\n', '-----END ', ':sessions:', ':sessions:expires:', 'expires:', 'name=', 'name="password",', 'value=', 'value="', 'name=password value=', '"name":"password","value":', '- name: a\n', '<password>', 'secret key', 'secret secret ', 'key ', 'a.', 'a-', 'A_', 'aB', 'пароль', 'пароль:', '-u a:', '-u '],
  ...['password={', 'password={noop}', '{noop}', '{noop}a', 'password->', 'password -> ', 'password => ', '->', '["password",', '["password","a",', '(password, ', '(token)=', 'secret: a/', 'key: /a', 'password=a;b=', 'auth: aB1', "password='a''b"],
  ...['mysql ', 'mysql -p', 'redis-cli ', 'redis-cli -a ', 'sshpass -p ', 'login ', 'login -p', 'mongo ', 'ldapsearch ', 'curl ', 'curl -u', 'add_user ', 'add_user a ', 'change_password "a" ', 'AUTH ', 'AUTH default ', 'auth default ', '"auth" ', '> AUTH a', 'SETUSER ', 'SETUSER a >', 'IDENTIFIED BY ', 'identified with a by ', "PASSWORD '"],
  ...['MII', 'MIIE' + 'a'.repeat(64), 'MIIE' + 'a'.repeat(64) + '\n', 'LS0tLS1CRUdJT', 'MIGHAgEAMB', 'https://h/a-1-b2-C3d', 'https://h/aB-', 'https://h/commit/', '\\u{', '\\u003d', '%20', '%26'],
]

/** What is wrong with how long a text takes; null: ten times as much of it takes at most twenty times as long. */
function slowness(textOf: (size: number) => string): string | null {
  const { isLinear, shown } = growthOf((size) => {
    const text = textOf(size)
    return () => withoutSecrets(text)
  }, { sizes: [100_000, 1_000_000] })
  return isLinear ? null : shown
}

const of = (part: string, size: number): string => part.repeat(Math.ceil(size / part.length)).slice(0, size)

test.each([...parts, ...parts.map((part) => `${part}x1 `)].map((part) => [JSON.stringify(part), part]))('%s, ten times as often, takes no more than twenty times as long', (_, part) => {
  expect(slowness((size) => of(part, size))).toBe(null)
}, 120_000)

test.each(parts.map((part) => [JSON.stringify(part), part]))('once, before a megabyte of anything: %s', (_, part) => {
  for (const filling of ['"', ' ', 'a1']) expect(slowness((size) => part + of(filling, size))).toBe(null)
}, 120_000)
