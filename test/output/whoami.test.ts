import { expect, test } from 'vitest'
import { whoamiText } from '../../src/output/login.ts'
import type { WhoamiDocument } from '../../src/output/login.ts'
import { faultsOf } from './schemas.ts'

function shown(user: WhoamiDocument['user'], columns = 80): string {
  const document: WhoamiDocument = { schemaVersion: 1, url: 'https://testops.example.org', user }
  expect(faultsOf('whoami', document)).toEqual([])
  return whoamiText(document, { columns, colour: false })
}

test('every field that says something, whatever it is called', () => {
  const user = {
    id: 1,
    username: 'admin',
    enabled: true,
    email: null,
    authorities: [{ authority: 'ROLE_ADMIN' }, { authority: 'ROLE_USER' }],
    roles: ['Администратор'],
    groups: [],
    license: { seats: 5, trial: false },
    about: 'word '.repeat(20),
  }
  expect(shown(user, 60)).toBe(`The API token's user at https://testops.example.org:

id           1
username     admin
enabled      true
authorities  ROLE_ADMIN, ROLE_USER
roles        Администратор
license      {"seats":5,"trial":false}
about        word word word word word word word word word
             word word word word word word word word word
             word word
`)
})

test('what would move the cursor, or turn the direction of writing, does not', () => {
  expect(
    shown({ 'na\u001bme': 'a\u001b[31mred\u202eab\r\nnext\u009b1m', nested: [{ a: '\u0007' }, { a: 1, b: '\u009b' }] }),
  ).toBe(
    `The API token's user at https://testops.example.org:\n\nna\\x1bme  a\\x1b[31mred\\u202eab ⏎ ` +
      `next\\x9b1m\nnested    \\x07, {"a":1,"b":"\\x9b"}\n`,
  )
})

test('a picture among the fields does not fill the screen', () => {
  expect(shown({ avatar: `data:image/png;base64,${'A'.repeat(100_000)}` }).length).toBeLessThan(400)
})

test('a user of whom nothing is shown', () => {
  expect(shown({})).toBe("The API token's user at https://testops.example.org:\n\n")
})
