import { join } from 'node:path'
import { ESLint } from 'eslint'
import { beforeAll, expect, test } from 'vitest'

/** The file in whose place the samples are read, so that they have its types. */
const file = join(import.meta.dirname, '../../src/domain/by-hand.ts')

const head = `
import type { Finding, Remedy } from '../core/check.ts'
import { AdminError } from '../core/error.ts'
import { command, nested, sentence, typed } from '../core/shell-command.ts'
import type { ShellCommand, Suggestion } from '../core/shell-command.ts'
import { sql } from '../core/sql-text.ts'
import { psql } from './evidence.ts'
declare const name: string
declare const names: readonly string[]
declare const error: AdminError
declare const client: ShellCommand
declare function made(): string
`

const unquoted: readonly (readonly [string, string])[] = [
  ['in what an error suggests', 'throw new AdminError("FAILED", "it", [`see ${name}`])'],
  ['put together', 'throw new AdminError("FAILED", "it", ["see " + name])'],
  ['by way of a variable', 'const next = `see ${name}`; throw new AdminError("FAILED", "it", [next])'],
  ['by way of a list', 'const next = names.map((it) => `see ${it}`); throw new AdminError("FAILED", "it", next)'],
  ['in a list that is spread', 'throw new AdminError("FAILED", "it", [...names])'],
  ['what a function gives', 'throw new AdminError("FAILED", "it", [made()])'],
  ['under a condition', 'throw new AdminError("FAILED", "it", name === "" ? [] : [name])'],
  ['in a remedy', 'export const it: Remedy = { text: "", commands: [`see ${name}`] }'],
  ['in what undoes a remedy', 'export const it: Remedy = { text: "", commands: [], undo: made() }'],
  ['in a remedy that a function gives', 'export function it(): Remedy { return { text: "", commands: [name] } }'],
  ['in one that is made elsewhere', 'const it = { text: "", commands: [...names] }; export const that: Remedy = it'],
  ['in a parameter', 'export function next(all: Suggestion[]): void { all.push(name) }'],
  ['within a command', 'export const it = command`sudo ${nested(name)}`'],
  ['in a statement', 'export const it = psql("h:1/d", null, `SELECT ${name}`)'],
  ['in pieces', 'throw new AdminError("FAILED", "it", ["ls " + name])'],
  ['changed afterwards', 'throw new AdminError("FAILED", "it", error.suggestions.map((it) => it.replace("x", name)))'],
]

const otherwise: readonly (readonly [string, string, string])[] = [
  [
    'a command in evidence',
    'export const it: Finding = { message: "", evidence: [`grep ${name} /x`] }',
    'looksLikeCommand',
  ],
  ['one in backquotes', 'export const it = `type \\`testops-admin resume ${name}\\``', 'looksLikeCommand'],
  ['one behind a colon', 'export const it = `Next: testops-admin doctor -d ${name}`', 'looksLikeCommand'],
  ['flags', 'export const it = `--queue ${name}`', 'looksLikeCommand'],
  ['what begins with a command', 'export const it = `${client} INFO`', 'unquoted'],
  ['a value in single quotes', "export const it = command`grep '${name}' x`", 'withinQuotes'],
  ['a value in double quotes', 'export const it = command`grep "${name}" x`', 'withinQuotes'],
  ['a value in the quotes of SQL', "export const it = sql`SELECT '${name}'`", 'withinQuotes'],
  ['a value in the backquotes of a sentence', 'export const it = sentence`see \\`${name}\\``', 'withinQuotes'],
  ['a cast', 'export const it = name as ShellCommand', 'cast'],
]

const fine: readonly (readonly [string, string])[] = [
  ['program text', 'throw new AdminError("FAILED", "it", ["testops-admin checks", name === "" ? "a" : "b"])'],
  ['program text in pieces', 'throw new AdminError("FAILED", "it", ["testops-admin checks " + "--json"])'],
  ['a message in pieces', 'throw new AdminError("FAILED", `it ${name} ` + `mount ${name}`)'],
  ['tagged', 'throw new AdminError("FAILED", "it", [command`ls ${name}`, sentence`see ${name}`, typed(["ls", name])])'],
  ['passed on', 'throw new AdminError("FAILED", "it", [...error.suggestions, command`sudo ${nested(client)}`])'],
  ['messages', 'throw new AdminError("FAILED", `helm upgrades ${name}, and \\`${name}\\` is gone`)'],
  ['a command within a command', 'export const it = command`cat "$(cat ${name})"`'],
  ['a port', 'export const it = command`"127.0.0.1:${5}"`'],
]

/** What was found, by sample. */
const found = new Map<string, string[]>()

beforeAll(async () => {
  const eslint = new ESLint({
    cwd: join(import.meta.dirname, '../..'),
    // else, where CI is set, the text of the file on disk is read in place of the samples
    overrideConfig: { languageOptions: { parserOptions: { disallowAutomaticSingleRunInference: true } } },
  })
  const samples = [...unquoted, ...otherwise, ...fine].map(([, sample]) => sample)
  // all in one text, each on its line: reading the types takes longest
  const text = head + samples.map((sample, index) => `namespace N${index} { ${sample} }`).join('\n')
  const [result] = await eslint.lintText(text, { filePath: file })
  const fatal = result!.messages.find((it) => it.fatal === true)
  if (fatal) throw new Error(fatal.message)
  for (const [index, sample] of samples.entries()) {
    const line = head.split('\n').length + index
    const messages = result!.messages.filter((it) => it.ruleId === 'own/quoted-commands' && it.line === line)
    found.set(
      sample,
      messages.map(({ messageId }) => messageId ?? ''),
    )
  }
}, 180_000)

test.each(unquoted)('an unquoted value is found %s', (_, sample) => {
  expect(found.get(sample)).toContain('unquoted')
})

test.each(otherwise)('%s is found', (_, sample, message) => {
  expect(found.get(sample)).toContain(message)
})

test.each(fine)('%s is fine', (_, sample) => {
  expect(found.get(sample)).toEqual([])
})
