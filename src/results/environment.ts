import { closeSync, fstatSync, readFileSync } from 'node:fs'
import { openInside } from './read/inside.ts'
import { pathOf } from './read/name-blocks.ts'

/**
 * Entries of a results directory's environment files, by file name. Files that are missing or unreadable are left out.
 */
export type Environment = ReadonlyMap<string, ReadonlyMap<string, string>>

/** Maximum bytes of an environment file; a larger one was not written for people to read. */
const mostBytes = 1 << 20

const read = { 'environment.properties': propertiesIn, 'environment.xml': entriesIn }
export const environmentFiles: readonly string[] = Object.keys(read)

/** Reads `environment.properties` and `environment.xml` (FIELD-NOTES.md 6). */
export function environmentOf(directory: string): Environment {
  return new Map(
    Object.entries(read).flatMap(([name, entries]) => {
      const text = textOf(directory, name)
      return text === null ? [] : [[name, entries(text)] as const]
    }),
  )
}

function textOf(directory: string, name: string): string | null {
  try {
    // never waits for a pipe, and follows links only within the directory
    const descriptor = openInside(directory, pathOf(directory, name))
    try {
      const found = fstatSync(descriptor)
      return found.isFile() && found.size <= mostBytes ? readFileSync(descriptor, 'utf8') : null
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return null
  }
}

/** Parses the format of java.util.Properties: a backslash continues the line; `=`, `:` or a blank ends a name. */
function propertiesIn(text: string): ReadonlyMap<string, string> {
  const entries = new Map<string, string>()
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)
  for (let index = 0; index < lines.length; index += 1) {
    const pieces = [lines[index]!.trimStart()]
    if (pieces[0] === '' || /^[#!]/.test(pieces[0]!)) continue
    while (goesOn(pieces.at(-1)!) && index + 1 < lines.length) {
      pieces.push(pieces.pop()!.slice(0, -1), lines[(index += 1)]!.trimStart())
    }
    const line = pieces.join('')
    const end = endOfName(line)
    entries.set(unescaped(line.slice(0, end)), unescaped(line.slice(end).replace(/^[ \t\f]*[=:]?[ \t\f]*/, '')))
  }
  return entries
}

function goesOn(line: string): boolean {
  let count = 0
  while (line[line.length - 1 - count] === '\\') count += 1
  return count % 2 === 1
}

function endOfName(line: string): number {
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '\\') at += 1
    else if ('=: \t\f'.includes(line[at]!)) return at
  }
  return line.length
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/g, (_, code: string | undefined, letter: string | undefined) => {
    if (code !== undefined) return String.fromCharCode(parseInt(code, 16))
    return { n: '\n', t: '\t', r: '\r', f: '\f' }[letter!] ?? letter!
  })
}

/** Parses `<parameter><key>…</key><value>…</value></parameter>` within `<environment>`. */
function entriesIn(text: string): ReadonlyMap<string, string> {
  const entries = new Map<string, string>()
  for (const parameter of text.split(/<parameter\s*>/).slice(1)) {
    const [own] = parameter.split('</parameter')
    const name = elementIn(own!, 'key')
    if (name !== null) entries.set(name, elementIn(own!, 'value') ?? '')
  }
  return entries
}

function elementIn(xml: string, name: string): string | null {
  const from = xml.indexOf(`<${name}>`)
  const to = xml.indexOf(`</${name}>`, from)
  return from < 0 || to < 0 ? null : plain(xml.slice(from + name.length + 2, to))
}

function plain(xml: string): string {
  return xml
    .replace(/^\s*<!\[CDATA\[([^]*)\]\]>\s*$/, '$1')
    .replace(
      /&(lt|gt|quot|apos|amp);/g,
      (_, name: string) => ({ lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' })[name]!,
    )
}
