import { expect, test } from 'vitest'
import { databaseFailure } from '../../src/adapters/postgres/errors.ts'

const peer = { what: 'PostgreSQL', host: 'db', port: 5432, where: 'db:5432/testops', suggestions: [] }
const login = { user: 'reader', database: 'testops', hasPassword: true }

test.each([
  ['permission denied for database "testops"', 'CONNECT ON DATABASE "testops"'],
  ['permission denied for schema service', 'USAGE ON SCHEMA service'],
  ['permission denied for table databasechangeloglock', 'SELECT ON databasechangeloglock'],
  ['permission denied for view pg_stat_activity', 'SELECT ON pg_stat_activity'],
  ['доступ запрещён', 'SELECT ON TABLE'],
])('names the right that is missing: %s', (said, right) => {
  const refused = Object.assign(new Error(said), { severity: 'ERROR', code: '42501' })
  expect(databaseFailure(refused, peer, login)).toMatchObject({
    code: 'FORBIDDEN',
    suggestions: [`psql -h db -p 5432 -U postgres -d testops -c 'GRANT ${right} TO "reader"'`],
  })
})

test('a disk without room is told as that, when it keeps a session from being taken in too', () => {
  const full = Object.assign(new Error('could not write init file: No space left on device'), {
    severity: 'FATAL',
    code: '53100',
  })
  expect(databaseFailure(full, peer, login)).toMatchObject({
    code: 'EXHAUSTED',
    message:
      'PostgreSQL at db:5432/testops has no space left on its disk: could not write init file: No space left on device',
    obstacle: { kind: 'disk' },
  })
})
