import { Linter } from 'eslint'
import { expect, test } from 'vitest'
import { plainWords } from '../../bin/lint-rules/plain-words.js'

const found = (code: string): string[] =>
  new Linter()
    .verify(code, [
      { plugins: { own: { rules: { 'plain-words': plainWords } } }, rules: { 'own/plain-words': 'error' } },
    ])
    .map(({ message }) => message)

test.each([
  ["say('Go on with the run')", 'resume'],
  ['say(`${run} cannot be taken back`)', 'undo'],
  ["say('it ended with 3')", 'exit with'],
  ['say(`take ${lock} back`)', 'undo'],
  ['say(`made ${queue} anew`)', 'again'],
  ['say(`gone\\n  on with`)', 'resume'],
  ["say('go ' +\n 'on with the run')", 'resume'],
  ["say(`take ${lock}` + ' back')", 'undo'],
  ["say('a flag that is none')", '(say what it is)'],
  ['say(`${count} messages and no more`)', '(leave it out)'],
])('a turn that may not come back is reported: %s', (code, expected) => {
  expect(found(code)).toEqual([expect.stringContaining(`=> ${expected}`)])
})

test.each([
  "say('Resume the run')",
  "say('cannot be told apart')",
  "import 'whoever'",
  "say('unfinished')",
  '// whoever goes on with it',
])('plain words, names and comments are not: %s', (code) => {
  expect(found(code)).toEqual([])
})
