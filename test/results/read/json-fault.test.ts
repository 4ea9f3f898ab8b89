import fc from 'fast-check'
import { expect, it } from 'vitest'
import { badJson, jsonFault } from '../../../src/results/read/json-fault.ts'
import { notUtf8 } from '../../../src/results/read/read-file.ts'

const end = 'The program that writes this file was stopped, or is still writing'

it.each<[string, string | undefined, string]>([
  ['', undefined, 'the file is empty'],
  [' \n', undefined, 'the file contains only whitespace'],
  ['{', 'line 1, column 2 (byte 1)', `the file ends in the middle, after 1 byte. ${end}`],
  ['{"a":\n[1,', 'line 2, column 4 (byte 9)', `the file ends in the middle, after 9 bytes. ${end}`],
  ['{"a": "b', 'line 1, column 9 (byte 8)', `the file ends in the middle of a string, after 8 bytes. ${end}`],
  ['[tru', 'line 1, column 5 (byte 4)', `the file ends in the middle of a word, after 4 bytes. ${end}`],
  ['[1.', 'line 1, column 4 (byte 3)', `the file ends in the middle of a number, after 3 bytes. ${end}`],
  ['[-', 'line 1, column 3 (byte 2)', `the file ends in the middle of a word, after 2 bytes. ${end}`],
  ['{"é": 1,\n "b" 2}', 'line 2, column 6 (byte 15)', 'the file is not valid JSON: found "2", expected a colon'],
  [
    '{"a": 1 "b": 2}',
    'line 1, column 9 (byte 8)',
    'the file is not valid JSON: found "\\"b\\"", expected a comma or }',
  ],
  ['[1, ]', 'line 1, column 5 (byte 4)', 'the file is not valid JSON: found "]", expected a value'],
  [
    '{"a": 1, }',
    'line 1, column 10 (byte 9)',
    'the file is not valid JSON: found "}", expected a name in quotation marks',
  ],
  ["{'a': 1}", 'line 1, column 2 (byte 1)', 'the file is not valid JSON: "\'a\'" is not a JSON value'],
  ['{"a": NaN}', 'line 1, column 7 (byte 6)', 'the file is not valid JSON: "NaN" is not a JSON value'],
  ['[01]', 'line 1, column 3 (byte 2)', 'the file is not valid JSON: found "1", expected a comma or ]'],
  ['{} {}', 'line 1, column 4 (byte 3)', 'the file is not valid JSON: found "{", expected the end of the file'],
  ['[1] // one', 'line 1, column 5 (byte 4)', 'the file is not valid JSON: JSON does not allow comments'],
  ['["a\tb"]', 'line 1, column 4 (byte 3)', 'the file is not valid JSON: a string contains a control character (0x09)'],
  ['["a\nb"]', 'line 1, column 4 (byte 3)', 'the file is not valid JSON: a string contains a line break'],
  [
    '["\\q"]',
    'line 1, column 2 (byte 1)',
    'the file is not valid JSON: a string contains an invalid escape sequence (after a backslash)',
  ],
  ['<html>', 'line 1, column 1 (byte 0)', 'the file is not valid JSON: "<html>" is not a JSON value'],
])('%j', (text, place, message) => {
  expect(() => void JSON.parse(text)).toThrow(SyntaxError)
  expect(badJson(text, 0, '')).toEqual({ message, ...(place !== undefined && { place }) })
})

it('finds a fault in exactly those texts that V8 does not parse', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"',
    '1',
    '-1.5e3',
    '1.',
    '01',
    'true',
    'nul',
    ' ',
    '\n',
    '\\',
    '\t',
    '/',
    '\u2028',
    '\\u12',
  )
  const nearly = fc.json().chain((text) => fc.nat(text.length).map((at) => text.slice(0, at)))
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece).map((pieces) => pieces.join('')),
        fc.json(),
        nearly,
      ),
      (text) => {
        expect(jsonFault(text) === null).toBe(isParsed(text))
      },
    ),
    { numRuns: 3000 },
  )
})

function isParsed(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

it.each<[string, Buffer, string | null]>([
  ['ASCII', Buffer.from('{}'), null],
  ['a mark, and letters of four bytes', Buffer.from('\ufeff😀é'), null],
  ['a byte that begins nothing', Buffer.from([0x22, 0x80]), 'line 1 (byte 1)'],
  ['a letter that is cut', Buffer.from([0x0a, 0xc3, 0xa9, 0xc3]), 'line 2 (byte 3)'],
  ['half of a pair, written by itself', Buffer.from([0xed, 0xa0, 0x80]), 'line 1 (byte 0)'],
  ['UTF-16', Buffer.from('\ufeff{', 'utf16le'), 'byte 0'],
  ['much before it', Buffer.concat([Buffer.from('é'.repeat(2_000_000)), Buffer.of(0xff)]), 'line 1 (byte 4000000)'],
])('where UTF-8 ends: %s', (_, bytes, place) => {
  expect(notUtf8(bytes)?.place ?? null).toBe(place)
})
