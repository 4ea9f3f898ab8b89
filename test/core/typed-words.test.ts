import fc from 'fast-check'
import { expect, test } from 'vitest'
import { typed, typedWords } from '../../src/core/typed.ts'

test.each([
  ['testops-admin unlock-changelog -d lab', ['testops-admin', 'unlock-changelog', '-d', 'lab']],
  [`a 'b c' "it's" 'it'\\''s' d='e f'`, ['a', 'b c', "it's", "it's", 'd=e f']],
  ['a b   # where the service runs', ['a', 'b']],
  ["a ''", ['a', '']],
  ['a#b', ['a#b']],
  ['', []],
])('%s', (command, words) => {
  expect(typedWords(command)).toEqual(words)
})

test.each(['a $HOME', 'a `b`', 'a "$(b)"', 'a | b', 'a; b', 'a > b', "a 'b", 'a *', 'a && b', 'a "b\\"c"'])(
  'a shell does more with it than read words: %s',
  (command) => {
    expect(typedWords(command)).toBeNull()
  },
)

test('what was typed is read as it was', () => {
  const word = fc.stringMatching(/^[ -~]{1,12}$/)
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      const read = typedWords(typed(['testops-admin', ...words]))
      expect(read === null ? words : read.slice(1)).toEqual(words)
    }),
  )
})
