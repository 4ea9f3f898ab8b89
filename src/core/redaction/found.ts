import { beforeHosts, inAddresses } from './addresses.ts'
import { byArgument } from './arguments.ts'
import { byName } from './by-name.ts'
import { forms, isProse, kindOfName, mask } from './table.ts'
import type { Span, Value } from './values.ts'
import type { View } from './view.ts'
import { secretAt, valueAt } from './values.ts'

const pairs =
  /[{}\n]|(?<![\p{L}\p{N}_])(?:(name|key|header|field|property)|(value|val))["'`]?(?:[ \t]{0,9}[=:][ \t]{0,9}|>)/giu

/** Finds `"name": "password", "value": "…"`, in either order, in JSON, YAML, XML, and as Java prints it. */
function byPair(view: View): Span[] {
  const { text } = view
  const found: Span[] = []
  let [isSecret, value, lines] = [null as boolean | null, null as Value | null, 0]
  pairs.lastIndex = 0
  for (let match = pairs.exec(text); match !== null; match = pairs.exec(text)) {
    const [sign, name, isValue] = match
    if (sign === '\n') {
      // a name and its value stand on lines that follow each other
      lines += 1
      if (lines > 3) [isSecret, value, lines] = [null, null, 0]
      continue
    }
    if (sign === '{' || sign === '}') {
      ;[isSecret, value, lines] = [null, null, 0]
      continue
    }
    const at = match.index + sign.length
    const it = valueAt(view, at)
    if (name !== undefined) {
      isSecret = kindOfName(text.slice(it.start, Math.min(it.end, it.start + 100))) !== null
      lines = 0
    } else if (isValue !== undefined) {
      value = it
      lines = 0
    }
    pairs.lastIndex = Math.max(pairs.lastIndex, it.end)
    if (isSecret === null || value === null) continue
    if (isSecret && value.end > value.start && !text.startsWith(mask, value.start)) {
      const secret = secretAt(view, value.isQuoted ? value.start - 1 : value.start, 'strong', '=')
      if (secret) found.push(secret)
    }
    ;[isSecret, value] = [null, null]
  }
  return found
}

/** Finds what is secret in a view by its name or its form, in no order; spans may overlap. */
export function secretsIn(view: View): Span[] {
  return [
    ...byName(view),
    ...byPair(view),
    ...byArgument(view),
    ...byForm(view.text),
    ...blocks(view.text),
    ...inAddresses(view.text),
    ...beforeHosts(view.text),
    ...sessionsIn(view.text),
    ...schemesIn(view.text),
  ]
}

function byForm(text: string): Span[] {
  return forms.flatMap((form) =>
    [...text.matchAll(form)].map(({ 0: { length }, index: start }) => ({ start, end: start + length })),
  )
}

const beginning = /-----BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY|SECRET|MESSAGE)[A-Z0-9 ]{0,20}-----/gi
const ending = /-----END [A-Z0-9 ]{0,60}-----/gi

/** Finds the content of private keys, up to their last line, or to the end of the text. */
function blocks(text: string): Span[] {
  const found: Span[] = []
  beginning.lastIndex = 0
  for (let match = beginning.exec(text); match !== null; match = beginning.exec(text)) {
    const start = match.index + match[0].length
    ending.lastIndex = start
    const end = ending.exec(text)?.index ?? text.length
    found.push({ start, end })
    beginning.lastIndex = Math.max(start, end)
  }
  return found
}

const sessions = /(?::sessions:(?:expires:)?|(?<![\p{L}\p{N}])expires:(?=[\da-f]{8}-))([\w-]{6,})/giu

/** Finds ids of sessions in names of keys: they are credentials. */
function sessionsIn(text: string): Span[] {
  return [...text.matchAll(sessions)].flatMap(({ 0: all, 1: id = '', index: start }) => {
    const end = start + all.length
    return /^(?:expirations|expires)$/i.test(id) ? [] : [{ start: end - id.length, end }]
  })
}

const schemeWords = /(?<![\p{L}\p{N}])(Bearer|api-token|Basic|apitoken|Negotiate)[ \t]{1,9}(?=[\w+/])([\w.~+/=-]+)/giu

/** Finds `Bearer …`, `Basic …`, `api-token …` wherever they stand. */
function schemesIn(text: string): Span[] {
  return [...text.matchAll(schemeWords)].flatMap(({ 0: all, 1: scheme = '', 2: value = '', index: start }) => {
    const end = start + all.length
    const word = value.replace(/[.=]{1,3}$/, '')
    // a reference, as this program takes it
    if (text[end] === ':' && /^(?:env|file)$/.test(value)) return []
    if (isProse(word) || (isProse(/^[\p{L}]+/u.exec(word.slice(0, 40))?.[0] ?? '') && /^\p{L}+[=]/u.test(value)))
      return []
    if (/^(?:basic|negotiate)$/i.test(scheme) && !(value.length >= 6 && /[\d=]|\p{Ll}\p{Lu}/u.test(value))) return []
    return [{ start: end - value.length, end }]
  })
}
