import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonWithoutBuildCommands, withoutBuildCommands } from '../../src/core/harmless.ts'
import { buildCommands, commandTexts } from '../support/build-server.ts'

describe('a text', () => {
  test.each<[string, string]>([
    ['##vso[task.setvariable variable=x]y', "#''#vso[task.setvariable variable=x]y"],
    ['a ##[error]b', "a #''#[error]b"],
    ["##teamcity[message text='x']", "#''#teamcity[message text='x']"],
    ['::error file=a::b', ":'':error file=a::b"],
    ['a\n  ::warning::b', "a\n  :'':warning::b"],
    ['section_end:1:a', "section''_end:1:a"],
    ['::dead::', ":'':dead::"],
  ])('%j is broken: %s', (text, broken) => {
    expect(withoutBuildCommands(text)).toBe(broken)
  })

  test.each([
    '',
    '# a',
    '## A heading',
    '## [a link](b)',
    'std::string a',
    'listens on ::1',
    '::ffff:10.0.0.1 port 5672',
    '::',
    'a:: b',
    'org.example.A::b',
    'a section_x',
    '::abcd:1',
    'fe80::1',
  ])('%j stays as it is', (text) => {
    expect(withoutBuildCommands(text)).toBe(text)
  })

  test.each(commandTexts)('%j holds no command, wherever it is broken into lines', (text) => {
    expect(buildCommands(text)).not.toEqual([])
    const broken = withoutBuildCommands(text)
    expect([broken, ...broken.split(/\s+/)].flatMap(buildCommands)).toEqual([])
    expect(withoutBuildCommands(broken)).toBe(broken)
  })

  test('of any pieces holds none', () => {
    const pieces = fc.array(
      fc.constantFrom(
        '#',
        '##',
        'vso',
        'VSO',
        '[',
        'teamcity',
        ':',
        '::',
        'error',
        ' ',
        '\n',
        '\t',
        '\u2003',
        'section',
        '_start',
        ':1',
        'a',
        'dead',
        'é',
      ),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(pieces, (all) => buildCommands(withoutBuildCommands(all.join(''))).length === 0),
      { numRuns: 5000 },
    )
  })
})

describe('a JSON document', () => {
  test.each(commandTexts)('with %j holds no command, and is equal', (text) => {
    const document = { [text]: [text, { text: `\\${text}` }] }
    for (const indent of [0, 2]) {
      const json = jsonWithoutBuildCommands(JSON.stringify(document, null, indent))
      expect([buildCommands(json), JSON.parse(json)]).toEqual([[], document])
    }
  })
})
