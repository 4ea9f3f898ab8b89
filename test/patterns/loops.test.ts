import { expect, test } from 'vitest'
import { alternativeNames } from '../../src/adapters/tls.ts'
import { reasonOf } from '../../src/adapters/answer-reason.ts'
import { editListItem, editYaml } from '../../src/adapters/yaml/edit.ts'
import { parseYaml } from '../../src/adapters/yaml/index.ts'
import { withoutQueries } from '../../src/domain/integrations/calls.ts'
import { endingIn } from '../../src/domain/last-words.ts'
import { parseCpuinfo } from '../../src/knowledge/processors.ts'
import { pasted } from '../../src/knowledge/explain/search/pasted.ts'
import { loggedCalls } from '../../src/knowledge/log-signatures.ts'
import { parseLockedBy } from '../../src/knowledge/lock.ts'
import { readAccessLog } from '../../src/logs/access-log.ts'
import { splitRecords } from '../../src/logs/records.ts'
import { clip, printable, wrap } from '../../src/output/text.ts'
import { changedDotenv } from '../../src/platforms/compose/place.ts'
import { changedText } from '../../src/platforms/host/setting.ts'
import { wordsOf } from '../../src/platforms/host/systemd.ts'
import { volatileLook } from '../../src/results/looks/volatile-look.ts'
import { badJson } from '../../src/results/read/json-fault.ts'
import { rawSources } from '../../src/results/read/read-file.ts'
import { growing } from '../support/campaign.ts'
import { growthOf } from './growth.ts'

/** As many of a text as fill so many characters. */
const of =
  (unit: string) =>
  (length: number): string =>
    unit.repeat(Math.ceil(length / unit.length))

/** What reads text from outside, by something hostile to it. */
const readers: readonly (readonly [string, (length: number) => string, (text: string) => unknown])[] = [
  ['values below empty lines', (length) => `${of('\n')(length)}image: {tag: a}\n`, edited],
  ['values below comments', (length) => `${of('# a\n\n')(length)}image: {tag: a}\n`, edited],
  ['values behind blanks', (length) => `image: {tag: a}${of(' ')(length)}\n`, edited],
  [
    'values of many keys',
    (length) => `${Array.from({ length: length / 10 }, (_, index) => `k${index}: v\n`).join('')}image: {tag: a}\n`,
    edited,
  ],
  ['values with lists in lists', (length) => `l: [${of('[[a],[b]],')(length)}]\nimage: {tag: a}\n`, edited],
  ['values with long blocks', (length) => `image:\n  tag: |\n${of('    a\n')(length)}${of('\n')(length)}`, edited],
  [
    'values with keys that have no value',
    (length) => `${Array.from({ length: length / 10 }, (_, index) => `k${index}:\n`).join('')}image: {tag: a}\n`,
    edited,
  ],
  [
    'values with aliases',
    (length) => `a: &a {b: c}\nl:\n${of('- *a\n')(Math.min(length, 100_000))}image: {tag: a}\n`,
    edited,
  ],
  ['beginnings of documents', of('---\n'), parsed],
  ['beginnings of documents below one', (length) => `a: b\n${of('--- #\n')(length)}`, parsed],
  ['a template', of('{{ a }}\n'), parsed],
  ['brackets that nobody closes', (length) => `a: ${of('[')(length)}`, parsed],
  ['blanks that end a broken text', (length) => `a: [${of(' \n')(length)}`, parsed],
  ['a list behind blanks', (length) => `l:\n${of(' ')(length)}- a=1\n`, listed],
  ['blanks', of(' '), printable],
  ['blanks and line ends', of('  \n x  '), printable],
  [
    'marks that take no column',
    (length) => `${of('\u0301')(length)}${'x'.repeat(200)}`,
    (text) => [clip(text, 100), wrap(`${text} a b c`, 100)],
  ],
  ['words', of('a '), (text) => wrap(text, 100)],
  ['titles of pages', of('<title'), said],
  ['brackets of pages', of('<'), said],
  ['styles of pages', of('<style<script'), said],
  ['ends of styles', of('<style></script>'), said],
  ['blanks and colons before JSON', (length) => `${of(' :')(length)}x{"`, said],
  ['addresses in a line', of('https://x/'), (text) => [withoutQueries(text), called(text)]],
  ['answers in a line', of('<-- 400 http://a '), called],
  ['answers in lines', of('<-- 400 http://a\n'), called],
  ['failures in a line', of('<-- HTTP FAILED: Failed to connect to ['), called],
  ['threads in a line', of('--- [<-- '), called],
  [
    'requests of many threads',
    (length) =>
      Array.from({ length: length / 40 }, (_, index) => `--- [${index}] --> GET http://h${index}/ `).join('\n'),
    called,
  ],
  ['a log of empty lines', of('\n'), (text) => splitRecords(text, null)],
  [
    'a record of many lines',
    (length) => `2026-11-21 02:12:44 ERROR\n${of('x\n')(length)}`,
    (text) => [splitRecords(text, null), endingIn(text, (line) => line)],
  ],
  ['objects of JSON', of('{"time":"2026'), (text) => splitRecords(text, null)],
  ['an access log of quotes', of('a [01/Jan/2026:00:00:00 +0000] "\\'), readAccessLog],
  ['an access log of lines', of('1.1.1.1 - - [01/Jan/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 1\n'), readAccessLog],
  ['flags of a processor', (length) => `flags\t: ${of(' \t')(length)}`, parseCpuinfo],
  ['processors', of('flags : a b\n'), parseCpuinfo],
  ['the holder of a lock', of(' ('), parseLockedBy],
  ['names of a certificate', of('DNS:"\\"'), alternativeNames],
  ['a file of settings', of('A=1\n'), (text) => changedText(Buffer.from(text), 'A', null)],
  ['a file of settings with quotes', of('A="\\'), (text) => changedText(Buffer.from(text), 'A', 'b')],
  ['a file of compose', of('A= # '), (text) => changedDotenv(Buffer.from(text), 'A', 'b')],
  [
    'a file of compose with blanks',
    (length) => `A=${of(' ')(length)}"`,
    (text) => changedDotenv(Buffer.from(text), 'A', 'b'),
  ],
  ['words of a shell', of('"\\" \''), wordsOf],
  ['a message that is pasted', of('at a.b(\n> [ERROR] --- ['), pasted],
  ['a time with brackets', (length) => `2026-11-21 02:12:44${of('( )')(length)}!`, looked],
  ['times', of('2026-11-21 02:12:44 '), looked],
  ['digits', of('1'), looked],
  ['names of classes', of('[a.$B'), looked],
  ['words with points', of('a.b-c/'), looked],
  ['sources of attachments', of('"source":"\\'), rawSources],
  ['JSON that does not end', of('{"a":['), (text) => badJson(text, 0, 'no JSON')],
  ['JSON of blanks', of(' /*'), (text) => badJson(text, 0, 'no JSON')],
]

test.each(readers)(
  '%s take at most 20 times as long for ten times as much',
  { timeout: 600_000 },
  (_, textOf, read) => {
    const { isLinear, shown } = growthOf(
      (length) => {
        const text = textOf(length)
        return () => read(text)
      },
      { sizes: growing(1000) },
    )
    expect(isLinear, shown).toBe(true)
  },
)

function edited(text: string): unknown {
  return attempted(() => editYaml(text, [{ path: ['image', 'tag'], to: 'b' }]))
}

function listed(text: string): unknown {
  return attempted(() => editListItem(text, ['l'], { prefix: 'b=', bare: 'b', to: 'b=2' }))
}

function parsed(text: string): unknown {
  return attempted(() => parseYaml(text))
}

function said(text: string): unknown {
  return reasonOf({ status: 500, headers: {}, text })
}

function called(text: string): unknown {
  return loggedCalls([{ at: null, level: null, text }])
}

function looked(text: string): unknown {
  return volatileLook(text, 'name', null)
}

/** A refusal is as good as an answer. */
function attempted(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('Yaml')) return error.message
    throw error
  }
}
