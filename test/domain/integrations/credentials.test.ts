import { describe, expect, test } from 'vitest'
import { credentialSteps, unseenIn } from '../../../src/domain/integrations/credentials.ts'

describe('what stands unseen at the ends', () => {
  test.each([
    ['plain', []],
    ['in the middle', []],
    ['pass ', ['ends with 1 blank (U+0020)']],
    ['  pass', ['begins with 2 blanks (U+0020)']],
    ['\tpass\u00a0', ['begins with 1 tab (U+0009)', 'ends with 1 no-break space (U+00A0)']],
    ['pass \n\n', ['ends with 1 blank (U+0020) and 2 line feeds (U+000A)']],
    ['pass\r', ['ends with 1 carriage return (U+000D)']],
    ['\ufeffpass\u200b', ['begins with 1 byte order mark (U+FEFF)', 'ends with 1 zero width space (U+200B)']],
    ['pass\u3000', ['ends with 1 U+3000']],
    [
      'pass \t\n\r\u00a0',
      ['ends with 1 blank (U+0020), 1 tab (U+0009), 1 line feed (U+000A), 1 carriage return (U+000D) and more'],
    ],
    ['   ', ['consists only of 3 blanks (U+0020)']],
    ['', []],
  ])('%j', (text, said) => {
    expect(unseenIn(text)).toEqual(said)
  })
})

describe('of what is signed in with', () => {
  const of = (given: Parameters<typeof credentialSteps>[0]): string[] =>
    credentialSteps(given).map(({ step, status, message }) => `${step} ${status}: ${message}`)

  test('a name, and a password that is fine', () => {
    expect(
      of({
        user: { text: 'bob', from: '--user', isPublic: true },
        password: { text: 's3cret', from: 'the file pw', hadLineEnd: true },
      }),
    ).toEqual([
      'user ok: `bob`: the user is a name. If the external system refuses this user, try an e-mail address, ' +
        'which some integrations need',
      'password ok: the password (the file pw) has no invisible characters at its start or end; the line ' +
        'break at the end of the file is ignored',
    ])
  })

  test('an e-mail address that is not to be shown', () => {
    expect(of({ user: { text: 'bob@example.org', from: 'the file user' } })).toEqual([
      'user ok: the user (the file user): the user is an e-mail address. If the external system refuses this ' +
        'user, try a name, which some integrations need',
    ])
  })

  test.each([
    ['a blank at the end', ' s3cret', 'begins with 1 blank (U+0020). Such characters count as part of the token'],
    [
      'several lines',
      's3\ncr\net',
      'contains 2 line feeds (U+000A), but a token must be one line without control characters',
    ],
    [
      'a control character',
      's3\u0007cret',
      'contains 1 U+0007, but a token must be one line without control characters',
    ],
  ])('a token with %s is a problem of credentials, and is not shown', (_, text, said) => {
    const [step] = credentialSteps({ token: { text, from: 'standard input' } })
    expect(step).toEqual({
      step: 'token',
      status: 'problem',
      cause: 'credentials',
      message: `the token (standard input) ${said}`,
    })
  })

  test('one that is empty', () => {
    expect(of({ password: { text: '', from: 'the file pw' } })).toEqual(['password problem: the file pw is empty'])
  })

  test('a user with a blank still has a form', () => {
    expect(of({ user: { text: 'bob ', from: '--user', isPublic: true } })[0]).toMatch(
      /^user problem: `bob ` ends with 1 blank .*/,
    )
  })
})
