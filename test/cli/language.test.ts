import { describe, expect, test } from 'vitest'
import { languageOf, withoutLang } from '../../src/cli/language.ts'

const utf8 = 'ru_RU.UTF-8'

describe('the language', () => {
  test.each<[string, Record<string, string>]>([
    ['ru', { LANG: utf8 }],
    ['ru', { LC_MESSAGES: utf8, LANG: 'en_GB.UTF-8' }],
    ['ru', { LC_ALL: utf8, LC_MESSAGES: 'C', LANG: 'C' }],
    ['ru', { LC_ALL: '', LC_MESSAGES: '', LANG: utf8 }],
    ['ru', { LANG: 'ru_RU.utf8@x' }],
    ['ru', { LANG: 'ru_RU' }],
    ['ru', { LANG: 'ru' }],
    ['ru', { LANG: 'RU_ru.UTF-8' }],
    ['ru', { LANG: utf8, LC_CTYPE: 'UTF-8' }],
    ['en', {}],
    ['en', { LANG: 'C.UTF-8' }],
    ['en', { LANG: 'POSIX' }],
    ['en', { LANG: 'de_DE.UTF-8' }],
    ['en', { LANG: 'rue_UA.UTF-8' }],
    ['en', { LC_ALL: 'C', LC_MESSAGES: utf8, LANG: utf8 }],
    ['en', { LC_MESSAGES: 'en_GB.UTF-8', LANG: utf8 }],
    // Russian that the terminal cannot show
    ['en', { LANG: 'ru_RU.KOI8-R' }],
    ['en', { LANG: 'ru_RU.ISO-8859-5' }],
    ['en', { LANG: utf8, LC_CTYPE: 'C' }],
    ['en', { LANG: utf8, LC_CTYPE: 'POSIX' }],
  ])('is %s with %j', (language, environment) => {
    expect(languageOf(undefined, environment)).toBe(language)
  })

  test('is the one that was asked for, whatever the locale', () => {
    expect([languageOf('en', { LANG: utf8 }), languageOf('ru', { LC_ALL: 'C' })]).toEqual(['en', 'ru'])
  })
})

describe('--lang among the words of help', () => {
  test.each<[string, string | undefined, string]>([
    ['--help --lang ru', 'ru', '--help'],
    ['--lang=en help', 'en', 'help'],
    ['help doctor', undefined, 'help doctor'],
    ['help -- --lang xx', undefined, 'help -- --lang xx'],
  ])('%s', (line, asked, rest) => {
    expect(withoutLang(line.split(' '))).toEqual({ asked, rest: rest.split(' ') })
  })

  test.each(['--lang', '--lang=', '--lang xx', '--lang --help'])('%s is refused', (line) => {
    expect(() => withoutLang(line.split(' '))).toThrow(/^Expected --lang=.* to be one of: en, ru$/)
  })
})
