import { expect, test } from 'vitest'
import { parseEnvironmentFile } from '../../../src/platforms/host/index.ts'

test.each([
  ['A=1\nB=two words\n', { A: '1', B: 'two words' }],
  ['# A=1\n; B=2\n\n  # C=3\nD=4', { D: '4' }],
  ['A=1\r\nB=2\r\n', { A: '1', B: '2' }],
  ['A=\nB=  \nC', { A: '', B: '' }],
  ['  A = spaced  \n', { A: 'spaced' }],
  ['A="quoted \\"x\\" \\n $HOME \\$HOME"\n', { A: 'quoted "x" \\n $HOME $HOME' }],
  ['A=\'single \\ "x" \'\n', { A: 'single \\ "x" ' }],
  ['A="one" \'two\' three\n', { A: 'onetwothree' }],
  ['A=it\'s "so"\n', { A: 'it\'s "so"' }],
  ['A=one \\\n  two\nB=2', { A: 'one   two', B: '2' }],
  ['A="one \\\ntwo\nthree"\nB=2', { A: 'one two\nthree', B: '2' }],
  ['A=back\\\\slash\\ \n', { A: 'back\\slash ' }],
  ['A=1 # no comment\n', { A: '1 # no comment' }],
  ['URL=jdbc:postgresql://h/d?a=b&c=d\n', { URL: 'jdbc:postgresql://h/d?a=b&c=d' }],
  ['export A=1\n1B=2\nC-D=3\nE=4\n', { E: '4' }],
  ['A=1\nA=2\n', { A: '2' }],
  ['A="open', { A: 'open' }],
  ["# it's = odd\nA=1\n", { A: '1' }],
  ['', {}],
])('%j', (text, expected) => {
  expect(Object.fromEntries(parseEnvironmentFile(text))).toEqual(expected)
})
