import { describe, expect, test } from 'vitest'
import { WrongTexts, checkedTexts } from '../../bin/explain-texts.js'

const facts = { checks: ['database/lock', 'api/token'], signatures: ['lock-waiting'], readers: ['earlier-files'] }

const whole = `severities: [error]
meaning: Nothing works.
causes:
  - It broke.
verify:
  - 'look   # with both eyes'
remedies:
  - text: Mend it.
    commands:
      - mend it
  - text: Or leave it.
source: docs/facts/service.md
`

const right: Readonly<Record<string, string>> = {
  'explain/index.yaml': 'faults:\n  - stuck\n  - broken\nterms:\n  - queue\n',
  'explain/schema.json': '{}',
  'explain/checks/api/token.yaml': `title: token is accepted\n${whole}`,
  'explain/checks/database/lock.yaml': `title: lock is free\n${whole}`,
  'explain/faults/broken.yaml': `title: it is broken\n${whole}`,
  'explain/faults/stuck.yaml': `title: it is stuck
of: database/lock
fitting: [1]
meaning: >-
  Somebody holds the lock, and
  does not let go.
patterns:
  - lock \\d{1,9} is held
`,
  'explain/signatures/lock-waiting.yaml': 'meaning: It waits.\ncause: Another one works.\nbehind: stuck\n',
  'explain/terms/queue.yaml': `title: queue\n${whole}names:\n  - В очереди\n`,
}

type Files = Readonly<Record<string, string | Uint8Array | null>>

/** What is read of the files above, some of them changed or taken away. */
function read(changed: Files = {}): ReturnType<typeof checkedTexts> {
  const files = Object.entries<string | Uint8Array | null>({ ...right, ...changed }).flatMap(([path, text]) =>
    text === null ? [] : [{ path, bytes: typeof text === 'string' ? Buffer.from(text) : text }],
  )
  return checkedTexts(files, facts)
}

function saidOf(changed: Files): string[] {
  try {
    read(changed)
    return []
  } catch (error) {
    if (!(error instanceof WrongTexts)) throw error
    return error.message.split('\n')
  }
}

const fault = 'explain/faults/broken.yaml'
const withMore = (more: string): Files => ({ [fault]: `${more}title: it is broken\n${whole}` })

test('what is right is taken, in the order of the catalogue, of the signatures, and of the index', () => {
  const { checkTexts, faultTexts, signatureTexts, termTexts } = read()
  expect([checkTexts, faultTexts, signatureTexts, termTexts].map((texts) => texts.map(({ id }) => id))).toEqual([
    facts.checks,
    ['stuck', 'broken'],
    facts.signatures,
    ['queue'],
  ])
  expect(faultTexts[0]).toEqual({
    id: 'stuck',
    kind: 'fault',
    title: 'it is stuck',
    of: 'database/lock',
    fitting: [1],
    meaning: 'Somebody holds the lock, and does not let go.',
    patterns: ['lock \\d{1,9} is held'],
  })
  expect(faultTexts[1]).toMatchObject({
    verify: ['look   # with both eyes'],
    remedies: [
      { text: 'Mend it.', commands: ['mend it'] },
      { text: 'Or leave it.', commands: [] },
    ],
  })
})

describe('a file that cannot be read gives one error, with its place', () => {
  test.each<[string, string | Uint8Array, string]>([
    ['empty', '', '1:1: is empty'],
    ['a comment alone', '# later\n', '1:1: is empty'],
    ['a list', '- title: it\n', '1:1: the file has to be a mapping, and is a list'],
    ['a text', 'broken\n', '1:1: the file has to be a mapping, and is a text'],
    ['two documents', `title: it\n---\ntitle: it\n`, '1:1: holds more than one document'],
    ['tabs', 'title: it is broken\ncauses:\n\t- It broke.\n', '3:1: tab characters must not be used in indentation'],
    ['a key twice', 'title: it\nmeaning: It.\ntitle: it\n', '3:1: duplicated mapping key'],
    ['a colon within', 'title: broken: it\n', '1:14: is indented wrongly, or holds a colon'],
    ['a tag', `title: !!str it\n${whole}`, '1:8: has a tag'],
    ['an anchor', `title: &it it\n${whole}`, '1:8: has an anchor'],
    ['an alias', 'title: &it it\nmeaning: *it\n', '1:8: has an anchor'],
    ['lists in lists', `title: ${'['.repeat(200)}\n`, '1:27: nesting exceeded'],
    ['huge', `title: it is broken\n${whole}${'#\n'.repeat(100_000)}`, '1:1: has 200236 bytes, more than 100000'],
    ['not UTF-8', Buffer.from('title: caf\xe9\n', 'latin1'), '1:1: is not in UTF-8'],
  ])('%s', (_, text, said) => {
    const found = saidOf({ [fault]: text })
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(said)
    expect(found[0]).toMatch(/^explain\/faults\/broken\.yaml:\d+:\d+: /)
  })
})

describe('what does not fit gives one error, with its place', () => {
  test.each<[string, string, string]>([
    ['an unknown key', 'colour: red\n', '1:1: unknown key colour'],
    ['the id', 'id: broken\n', '1:1: unknown key id'],
    ['a number', 'words:\n  - it is broken\n  - 404\n', '3:5: words has to be a text, and is a number'],
    ['a mapping', 'words:\n  - it: broken\n', '2:5: words has to be a text, and is a mapping'],
    ['a text for a list', 'words: it is broken\n', '1:1: words has to be a list, and is a text'],
    ['an empty text', "words:\n  - ''\n", '2:6: words is empty'],
    ['no text', 'words:\n', '1:1: words has to be a list, and is empty'],
    [
      'a comment for a text',
      'words:\n  - broken\n  - # in the web interface\n',
      '3:3: words has to be a text, and is empty',
    ],
    ['a comment behind a text', 'words:\n  - look   # here\n', '2:12: what follows # here is a comment'],
    ['an empty list', 'words: []\n', '1:1: words is empty'],
    ['the same twice', 'words:\n  - broken\n  - it\n  - broken\n', '4:5: words says the same twice'],
    ['line ends', 'words:\n  - |\n    broken\n', '3:1: words has to be one line'],
    ['capitals in a message', 'messages:\n  - It broke\n', '2:5: messages has to be in lower case'],
    ['two blanks in a message', 'messages:\n  - it  broke\n', '2:5: messages has to be in lower case'],
    ['capitals in a pattern', 'patterns:\n  - It broke\n', '2:5: patterns has to be in lower case'],
    ['repetition without end', 'patterns:\n  - it \\w+ broke\n', '2:5: patterns has to be an expression in which'],
    ['another one', 'patterns:\n  - it \\S{1,} broke\n', '2:5: patterns has to be an expression in which'],
    ['a bad expression', 'patterns:\n  - it (broke\n', '2:5: Invalid regular expression: /it (broke/'],
    ['no such reader', 'reader: later-files\n', '1:1: no reader of src/knowledge/explain/readers.ts is later-files'],
    ['no such signature', 'signatures: [lock-waited]\n', '1:14: no signature of src/knowledge is lock-waited'],
    ['no such entry', 'see: [stuck, stack]\n', '1:14: no entry is stack'],
    ['itself', 'see: [broken]\n', '1:7: it refers to broken anyway'],
    ['fitting nothing', 'fitting: [0]\n', '1:1: fitting means nothing without of'],
    [
      'a name of another',
      'names:\n  - в очереди\n',
      'explain/terms/queue.yaml:15:5: explain/faults/broken.yaml claims',
    ],
    ['an id for a name', 'names:\n  - Stuck\n', '2:5: it is the id of explain/faults/stuck.yaml'],
    [
      'a pattern of another',
      'patterns:\n  - lock \\d{1,9} is held\n',
      'explain/faults/stuck.yaml:8:5: explain/faults/broken.yaml claims the same',
    ],
  ])('%s', (_, more, said) => {
    const found = saidOf(withMore(more))
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(said)
  })

  test.each<[string, string, string, string]>([
    ['a text is missing', 'title: it is stuck\n', '', '1:1: title is missing'],
    ['nothing bears that id', 'of: database/lock', 'of: database/look', '2:1: no entry is database/look'],
    ['what it refers to refers on', 'of: database/lock', 'of: stuck', '2:1: stuck refers to stuck itself'],
    ['what it refers to is a line', 'of: database/lock', 'of: lock-waiting', '2:1: lock-waiting is a line of a log'],
    ['there is no such remedy', '[1]', '[1, 2]', '3:14: database/lock has 2 remedies, from 0 on'],
    ['a remedy has no number', '[1]', '[one]', '3:11: fitting has to be a number, and is a text'],
  ])('of a reference: %s', (_, from, to, said) => {
    const file = 'explain/faults/stuck.yaml'
    expect(saidOf({ [file]: right[file]!.replace(from, to) })).toEqual([`${file}:${said}`])
  })

  test.each<[string, string, string]>([
    ['explain/checks/api/token.yaml', 'severities: [error]', '2:1: severities is empty'],
    ['explain/checks/api/token.yaml', 'title: token is accepted', '1:1: unknown key of'],
    ['explain/signatures/lock-waiting.yaml', 'behind: stuck', '3:1: no entry is stack'],
  ])('%s: %s', (file, from, said) => {
    const to = { severities: 'severities: []', title: 'of: database/lock\ntitle: it', behind: 'behind: stack' }
    const changed = right[file]!.replace(from, to[from.split(':')[0] as keyof typeof to])
    expect(saidOf({ [file]: changed })).toEqual([`${file}:${said}`])
  })
})

describe('the files fit together', () => {
  test.each<[string, Files, string]>([
    [
      'a fault that is not listed',
      { 'explain/faults/more.yaml': `title: more\n${whole}` },
      'faults/more.yaml:1:1: explain/index.yaml does not list it',
    ],
    [
      'a fault without a file',
      { 'explain/faults/broken.yaml': null },
      'index.yaml:3:5: explain/faults/broken.yaml is missing',
    ],
    [
      'a check without a file',
      { 'explain/checks/api/token.yaml': null },
      'index.yaml:1:1: explain/checks/api/token.yaml is missing',
    ],
    [
      'a file without a check',
      { 'explain/checks/api/more.yaml': `title: more\n${whole}` },
      'api/more.yaml:1:1: no check of src/checks/index.ts is api/more',
    ],
    [
      'a line without a file',
      { 'explain/signatures/lock-waiting.yaml': null },
      'index.yaml:1:1: explain/signatures/lock-waiting.yaml is missing',
    ],
    [
      'a file without a line',
      { 'explain/signatures/more.yaml': 'meaning: It.\ncause: It.\nbehind: stuck\n' },
      'more.yaml:1:1: no signature of src/knowledge is more',
    ],
    ['no index', { 'explain/index.yaml': null }, 'index.yaml:1:1: is missing'],
    [
      'two files with one id',
      {
        'explain/index.yaml': 'faults: [stuck, broken]\nterms: [queue, stuck]\n',
        'explain/terms/stuck.yaml': `title: it\n${whole}`,
      },
      'terms/stuck.yaml:1:1: has the id of explain/faults/stuck.yaml',
    ],
  ])('%s', (_, changed, said) => {
    const found = saidOf(changed)
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(said)
  })

  test.each([
    'explain/faults/broken.rus.yaml',
    'explain/other.ru.yaml',
    'explain/faults/broken.yml',
    'explain/faults/Broken.yaml',
    'explain/faults/broken.yaml~',
    'explain/faults/more/broken.yaml',
    'explain/checks/token.yaml',
    'explain/words/broken.yaml',
    'explain/constructor/broken.yaml',
    'explain/broken.yaml',
    'explain/.DS_Store',
  ])('%s is not overlooked', (file) => {
    expect(saidOf({ [file]: `title: it is broken\n${whole}` })).toEqual([
      expect.stringContaining(`${file}:1:1: is no entry`),
    ])
  })

  test('everything that is wrong is told at once', () => {
    expect(
      saidOf({ 'explain/faults/broken.yaml': '', 'explain/terms/queue.yaml': 'title: [a]\nmeaning: 1\n' }),
    ).toHaveLength(8)
  })
})

describe('translations', () => {
  const sibling = 'explain/faults/broken.ru.yaml'
  const signature = 'explain/signatures/lock-waiting.ru.yaml'
  const program = 'explain/program.ru.yaml'

  test('are compiled for each language, and leave the English texts as they are', () => {
    const english = read()
    const { translations, ...lists } = read({
      [sibling]: 'title: сломано\ncauses:\n  - Сломалось.\nremedies:\n  - Почините.\n  - Или оставьте.\n',
      [signature]: 'title: ждёт\ncause: Другой работает.\n',
      [program]: "words:\n  '{1} checks': '{1} {1:проверка|проверки|проверок}'\n",
      'explain/terms/queue.de.yaml': 'title: Schlange\n',
    })
    expect({ ...lists, translations: {} }).toEqual(english)
    expect(translations).toEqual({
      de: {
        language: 'de',
        forms: ['one', 'other'],
        entries: { queue: { title: 'Schlange' } },
        help: {},
        words: {},
        sentences: {},
        phrases: {},
      },
      ru: {
        language: 'ru',
        forms: ['one', 'few', 'many'],
        entries: {
          broken: { title: 'сломано', causes: ['Сломалось.'], remedies: ['Почините.', 'Или оставьте.'] },
          'lock-waiting': { title: 'ждёт', cause: 'Другой работает.' },
        },
        help: {},
        words: { '{1} checks': '{1} {1:проверка|проверки|проверок}' },
        sentences: {},
        phrases: {},
      },
    })
  })

  test.each<[string, string, string, string]>([
    ['without an entry', 'explain/faults/more.ru.yaml', 'title: ещё\n', '1:1: there is no explain/faults/more.yaml'],
    ['of an unknown key', sibling, 'titel: сломано\n', '1:1: unknown key titel'],
    ['of commands', sibling, 'verify:\n  - смотри\n', '1:1: unknown key verify'],
    ['of nothing', sibling, '{}\n', '1:1: the file must NOT have fewer than 1 properties'],
    [
      'of a key that the entry lacks',
      'explain/faults/stuck.ru.yaml',
      'title: а\ncauses:\n  - б\n',
      '2:1: explain/faults/stuck.yaml has no causes',
    ],
    [
      'with a cause too many',
      sibling,
      'causes:\n  - а\n  - б\n',
      '1:1: explain/faults/broken.yaml has 1 causes, and this 2',
    ],
    [
      'with a remedy too few',
      sibling,
      'remedies:\n  - а\n',
      '1:1: explain/faults/broken.yaml has 2 remedies, and this 1',
    ],
    ['of a signature, with causes', signature, 'causes:\n  - а\n', '1:1: unknown key causes'],
    ['of the program, with a part too many', program, 'titles:\n  a: б\n', '1:1: unknown key titles'],
    ['without a value', program, "words:\n  '{1} ok': норма\n", '2:4: the translation leaves out {1}'],
    ['with a value too many', program, "words:\n  'ok {1}': '{1} {2}'\n", '2:4: {2} is no value of the English text'],
    [
      'with values out of order',
      program,
      "words:\n  '{2} of {1}': '{1} {2}'\n",
      '2:4: its values are {1}, {2} and so on',
    ],
    [
      'with values beside each other',
      program,
      "words:\n  'a {1}{2}': '{1} {2}'\n",
      '2:4: something has to stand between',
    ],
    ['of a value alone', program, "words:\n  '{1}': '{1}'\n", '2:4: says nothing but values'],
    ['with two forms', program, "words:\n  '{1} ok': '{1} {1:а|б}'\n", '2:4: {1:а|б} needs 3 forms'],
    ['with a loose brace', program, "words:\n  'a {1}': '{1} {б}'\n", '2:4: has a brace that belongs to no value'],
  ])('%s are refused', (_, file, text, said) => {
    const found = saidOf({ [file]: text })
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(`${file}:${said}`)
  })
})
