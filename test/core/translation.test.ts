import { describe, expect, test } from 'vitest'
import type { CheckReport } from '../../src/core/check.ts'
import { checkIn, textsIn, translation } from '../../src/core/translation.ts'
import type { Texts } from '../../src/core/translation.ts'

const texts: Texts = {
  language: 'ru',
  forms: ['one', 'few', 'many'],
  entries: { 'broker/reachable': { title: 'брокер отвечает' } },
  help: { 'Stop it': 'Остановить' },
  words: {
    'Exit code {1}.': 'Код завершения: {1}.',
    '{1} checks in {2} s': '{1} {1:проверка|проверки|проверок} за {2} с',
    '{1} of {2}': 'из {2}: {1}',
  },
  sentences: {
    'Stop the service.': 'Остановите сервис.',
    'Start {1} on {2}.': 'Запустите {1}, где: {=2}.',
    'Start {1} on {2} or {3}.': 'Запустите {1} на {2} или {3}.',
    'It restarts.': 'Он перезапустится.',
  },
  phrases: {
    'this machine': 'эта машина',
    'the machine of {1}': 'машина {1}',
    '{1}, else {2}': '{1}, иначе {=2}',
    'the settings': 'настройки',
  },
}
const russian = translation(texts)

test.each([
  ['Exit code 3.', 'Код завершения: 3.'],
  ['1 checks in 0.5 s', '1 проверка за 0.5 с'],
  ['21 checks in 4 s', '21 проверка за 4 с'],
  ['22 checks in 4 s', '22 проверки за 4 с'],
  ['12 checks in 4 s', '12 проверок за 4 с'],
  ['1,284 checks in 4 s', '1,284 проверки за 4 с'],
  ['many checks in 4 s', 'many проверок за 4 с'],
  // an unknown text, one without its value, and one in which a value could end in two places
  ['Exit code', 'Exit code'],
  ['Exit code .', 'Exit code .'],
  ['1 of 2 of 3', '1 of 2 of 3'],
  ['xExit code 3.', 'xExit code 3.'],
  ['toString', 'toString'],
  ['', ''],
])('%j is %j', (english, told) => {
  expect(russian.words(english)).toBe(told)
})

describe('sentences', () => {
  test.each([
    ['Stop the service.', 'Остановите сервис.'],
    ['Stop the service. It restarts. Stop the service.', 'Остановите сервис. Он перезапустится. Остановите сервис.'],
    ['Start RabbitMQ on db. It restarts.', 'Запустите RabbitMQ, где: db. Он перезапустится.'],
    ['Start RabbitMQ on this machine.', 'Запустите RabbitMQ, где: эта машина.'],
    ['Start it on this machine, the machine of b.', 'Запустите it, где: эта машина, машина b.'],
    ['Start it on `x`, else the settings.', 'Запустите it, где: `x`, иначе настройки.'],
    ['Start it on a or b.', 'Запустите it на a или b.'],
    // a value with a full stop of its own, and values that look like placeholders
    ['Start v. 2 on db. It restarts.', 'Запустите v. 2, где: db. Он перезапустится.'],
    ['Start {2} on $1 $& {1}.', 'Запустите {2}, где: $1 $& {1}.'],
    // one unknown sentence leaves all in English
    ['Stop the service. Then pray.', 'Stop the service. Then pray.'],
    ['Then pray. Stop the service.', 'Then pray. Stop the service.'],
    ['Start a on b on c.', 'Start a on b on c.'],
  ])('%j is %j', (english, told) => {
    expect(russian.sentences(english)).toBe(told)
  })
})

test.each([
  ['a value without end', `Start ${' on '.repeat(900)}.`],
  ['sentences without end', 'Stop the service. '.repeat(200)],
  ['dots without end', '. '.repeat(1900)],
  ['more than is looked up', `Start x on ${'y'.repeat(5000)}.`],
])('%s takes no time, and stays English', (_, english) => {
  const begin = performance.now()
  expect(russian.sentences(english)).toBe(english)
  expect(performance.now() - begin).toBeLessThan(200)
})

test('of a check, its title and its remedy are told; what was found and the commands stay', () => {
  const check: CheckReport = {
    id: 'broker/reachable',
    title: 'broker answers',
    status: 'problem',
    severity: 'error',
    findings: [{ message: 'Stop the service.', evidence: [] }],
    remedy: { text: 'Stop the service.', commands: ['Stop the service.'], risk: 'It restarts.' },
    docs: 'testops-admin explain broker/reachable',
    durationMs: 1,
  }
  expect(checkIn(check, russian)).toEqual({
    ...check,
    title: 'брокер отвечает',
    remedy: { text: 'Остановите сервис.', commands: ['Stop the service.'], risk: 'Он перезапустится.' },
  })
  expect(checkIn({ ...check, id: 'constructor' }, russian).title).toBe('broker answers')
})

test.each<[string, unknown]>([
  ['no object', []],
  ['nothing', null],
  ['a part is missing', { ...texts, words: undefined }],
  ['a text is a number', { ...texts, words: { 'Exit code': 3 } }],
  ['an entry is a text', { ...texts, entries: { a: 'title' } }],
  ['a cause is a number', { ...texts, entries: { a: { causes: [1] } } }],
  ['the forms are no list', { ...texts, forms: 'one' }],
])('texts are refused if %s', (_, read) => {
  expect(textsIn(read)).toBeNull()
})

test('right texts are taken', () => {
  expect(textsIn(JSON.parse(JSON.stringify(texts)))).toEqual(texts)
})
