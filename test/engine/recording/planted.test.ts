import { describe, expect, test } from 'vitest'
import { redacted } from '../../../src/engine/recording/redacted.ts'
import { definitionIn } from '../../../src/platforms/host/systemd.ts'

const cleaned = (data: unknown): string => redacted([{ name: 'a.json', json: () => data }]).files[0]!.text

/** What nobody may read in a report; plain words, numbers and blanks in it too. */
const secrets = {
  plain: 'tr0ub4dor-and-3',
  word: 'sunflower',
  blanks: 'two words 77',
  number: 48_151_623,
}

describe('hides a secret', () => {
  test.each<[string, unknown, string]>([
    ['after its flag in a list', { args: ['redis-server', '--requirepass', secrets.word] }, secrets.word],
    ['after a flag of one letter', { args: ['redis-cli', '-h', 'redis', '-a', secrets.plain] }, secrets.plain],
    ['of a program in another list', { command: ['redis-cli'], args: ['-a', secrets.plain, 'ping'] }, secrets.plain],
    ['of an entrypoint', { entrypoint: ['redis-cli'], command: ['-a', secrets.plain, 'ping'] }, secrets.plain],
    ['that a flag of mysql holds', { command: ['mysqldump', '-uroot', `-p${secrets.plain}`] }, secrets.plain],
    ['after an assignment in a list', { environment: [`DB_PASSWORD_OLD=${secrets.blanks}`] }, secrets.blanks],
    ['below its name', { password: { value: secrets.word } }, secrets.word],
    ['deep below its name', { redis: { passwords: { admin: { plain: secrets.word } } } }, secrets.word],
    ['in a list below its name', { passwords: [secrets.word] }, secrets.word],
    ['that is a number', { password: secrets.number }, String(secrets.number)],
    ['with dots in its name', { 'spring.datasource.password': secrets.word }, secrets.word],
    ['in an annotation', { 'example.com/token': secrets.word }, secrets.word],
    ['of a sidecar', { DB_PASSWORD_OLD: secrets.word }, secrets.word],
    ['of Redis', { REDIS_AUTH: secrets.word }, secrets.word],
    ['of a licence', { env: [{ name: 'LICENSE_KEY', value: secrets.word }] }, secrets.word],
    ['of a licence in a list', { environment: [`VENDOR_LICENSE=${secrets.word}`] }, secrets.word],
    ['of a licence, in camel case', { licenseKey: secrets.word }, secrets.word],
    ['that is a PIN', { env: [{ name: 'MY_PIN', value: '48151' }] }, '48151'],
    ['beside its key', { headers: [{ key: 'x-api-token', value: secrets.word }] }, secrets.word],
    ['beside the name of its header', { header: 'Authorization', value: secrets.plain }, secrets.plain],
    ['that looks like one, below a vague name', { credentials: { user: 'anna', it: 'hG7-kd92-Lw' } }, 'hG7-kd92-Lw'],
    [
      'on several lines',
      { lines: ['a', '-----BEGIN PRIVATE KEY-----', 'c2VjcmV0LWxpbmU', '-----END PRIVATE KEY-----'] },
      'c2VjcmV0LWxpbmU',
    ],
    [
      'on a line of a unit that goes on',
      definitionIn(`[Service]\nExecStart=/usr/bin/redis-server --requirepass \\\n  ${secrets.word} --port 1\n`),
      secrets.word,
    ],
    [
      'with blanks in a unit',
      definitionIn(`# /etc/systemd/system/a.service\nEnvironment="A=b" "DB_PASSWORD=${secrets.blanks}"\n`),
      secrets.blanks,
    ],
    ['that stands in place of a variable', { POSTGRES_PASSWORD: `\${PG_PASSWORD:-${secrets.word}}` }, secrets.word],
    ['of Spring, likewise', { password: `\${DB_PASSWORD:${secrets.word}}` }, secrets.word],
    ['of a new user', { exec: ['rabbitmqctl', 'add_user', 'anna', secrets.word] }, secrets.word],
    ['of a program in a text', { entrypoint: 'redis-cli', command: ['-a', secrets.plain, 'ping'] }, secrets.plain],
    ['of somebody whose name ends as a word', { passwords: { tomcat: secrets.word } }, secrets.word],
    ['that its key holds', { secret: { key: secrets.word } }, secrets.word],
    ['in a list below a vague name', { auth: { accounts: ['hG7kd92LwQx7tZ'] } }, 'hG7kd92LwQx7tZ'],
    ['in a name below a vague name', { auth: { 'glpat-abc123def456': 'developer' } }, 'abc123def456'],
    [
      'in a comment between joined lines of a unit',
      definitionIn(`ExecStart=/usr/bin/x \\\n# it was ${secrets.word}\n  --port 1\n`),
      secrets.word,
    ],
    ['in a comment of a unit', definitionIn(`[Unit]\n# it was ${secrets.word}\n`), secrets.word],
  ])('%s', (_, data, secret) => {
    const text = cleaned(data)
    expect(text).not.toContain(secret)
    for (const part of secret.split(' ')) expect(text).not.toContain(part)
  })

  test('at an anchor, whatever its name', () => {
    const data = { 'x-old': 'two walnuts', env: { DB_PASSWORD_OLD: 'two walnuts' }, user: 'two walnuts and more' }
    const [file] = redacted([{ name: 'definitions/compose.yml.json', json: () => data }]).files
    expect(JSON.parse(file!.text)).toEqual({
      'x-old': '[secret-1]',
      env: { DB_PASSWORD_OLD: '[secret-1]' },
      user: 'two walnuts and more',
    })
  })

  test('that a text names, in a text that does not', () => {
    const { files } = redacted([
      { name: 'a.txt', text: 'could not connect, password=Tr0ub4dor&3x is wrong' },
      { name: 'b.txt', text: 'login as anna with Tr0ub4dor&3x failed' },
    ])
    expect(files.map(({ text }) => text).join()).not.toContain('ub4dor')
  })
})

test.each<[string, unknown]>([
  ['the name of a Secret', { secretKeyRef: { name: 'testops-db', key: 'password' } }],
  ['what leads to one', { password: { secretName: 'testops-db', path: '/run/secrets/db', optional: false } }],
  ['a variable in its place', { environment: { POSTGRES_PASSWORD: '${DB_PASSWORD}' } }],
  ['one that is not set', { adminPassword: '', token: null, secretsEnabled: true }],
  ['arguments', { command: ['java'], args: ['-Xmx2g', '-jar', '/app/testops.jar', '--server.port=8080'] }],
  ['a Secret that is named', { existingSecret: 'testops-existing', imagePullSecrets: [{ name: 'registry' }] }],
  ['names of secrets', { secrets: ['spring_datasource_password'], imagePullSecrets: ['testops-registry-credentials'] }],
  ['a variable that holds one', { secrets: { db: { environment: 'SPRING_DATASOURCE_PASSWORD', external: true } } }],
  [
    'where one is',
    { POSTGRES_PASSWORD_FILE: '/run/secrets/postgres_password', X_TOKEN_URI: 'https://idp.example.com/x' },
  ],
  ['a file of compose', { secrets: { db: { file: './db.txt' } } }],
])('shows %s', (_, data) => {
  expect(JSON.parse(cleaned(data))).toEqual(data)
})
