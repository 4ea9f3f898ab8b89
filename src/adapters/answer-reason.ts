import { oneLine } from './failure.ts'
import { isRecord, jsonOf } from './http.ts'
import type { HttpAnswer } from './http.ts'
import { withoutSecrets } from '../core/redaction/index.ts'

/**
 * Summarizes an answer for an error message: `HTTP 502, 'Bad Gateway'`. Shows the target of a redirect, the error
 * fields of JSON (Spring's, OAuth's, RFC 9457's, RabbitMQ's), or the title or first line of a page. Leaves out JSON
 * text, time and stack (FIELD-NOTES.md 1.3), so that the same error always reads the same. `hide` removes secrets
 * before anything is cut off.
 */
export function reasonOf(
  { status, headers, text }: Pick<HttpAnswer, 'status' | 'headers' | 'text'>,
  hide: (text: string) => string = withoutSecrets,
): string {
  const { location } = headers
  if (status >= 300 && status < 400 && location !== undefined)
    return `HTTP ${status}, redirect to ${hide(location.split('?')[0] ?? '')}`
  const value = jsonOf({ text })
  const said = value === undefined ? saidByPage(text) : saidByJson(value)
  return `HTTP ${status}${said === '' ? '' : `, '${clipped(hide(said.slice(0, looked)))}'`}`
}

/** characters of a text that are searched for secrets; a page without line ends may be long */
const looked = 1000

/** Fields that say what went wrong, and fields that say why: the first with text counts. */
const whatFields = ['error', 'title']
const whyFields = ['error_description', 'message', 'detail', 'reason']

/** levels of nested errors that are read */
const mostLevels = 20

function saidByJson(value: unknown, level = 0): string {
  if (level > mostLevels) return ''
  if (typeof value === 'string') return firstLine(value)
  if (Array.isArray(value)) return value.length === 0 ? '' : saidByJson(value[0], level + 1)
  if (!isRecord(value)) return ''
  const what = textIn(value, whatFields)
  const why = textIn(value, whyFields)
  // the path that the service saw differs from the requested one if a proxy changed it
  if (value['status'] === 404 && why === '') return [what, textIn(value, ['path'])].filter(Boolean).join(' ')
  const isRepeated = why.toLowerCase().includes(what.toLowerCase())
  const said = [isRepeated ? '' : what, why].filter(Boolean).join(': ')
  return said === '' ? saidByJson(value['error'] ?? value['errors'], level + 1) : said
}

function textIn(value: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  const texts = names.map((name) => value[name]).filter((text) => typeof text === 'string')
  // Spring writes this if it has no message
  return firstLine(texts.find((text) => text.trim() !== '' && text !== 'No message available') ?? '')
}

function saidByPage(text: string): string {
  const title = /<title[^<>]*>([^<]+)<\/title>/i.exec(text)?.[1]
  return firstLine(title ?? withoutScripts(text).replace(/<[^<>]*>/g, '\n'))
}

/** Removes `<style` and `<script` elements from a page. Keeps an element without an end. */
function withoutScripts(text: string): string {
  const kept: string[] = []
  let from = 0
  let open: { name: string; at: number } | null = null
  for (const { 1: slash, 2: tag = '', index } of text.matchAll(/<(\/?)(style|script)/gi)) {
    const name = tag.toLowerCase()
    if (open === null && slash === '') {
      kept.push(text.slice(from, index))
      open = { name, at: index }
    } else if (open?.name === name && slash === '/') {
      from = index + name.length + 3
      open = null
    }
  }
  return kept.join('') + text.slice(open?.at ?? from)
}

/** Returns the first line with text, up to where JSON begins in it; empty if there is none. */
function firstLine(text: string): string {
  const json = /["'(]?(?:\{\s*["}]|\[\s*[[{"])/.exec(text)
  const prose = json ? `${text.slice(0, json.index).replace(/(?<![\s:])[\s:]+$/, '')} …` : text
  const line = prose
    .split('\n')
    .map((part) => part.trim())
    .find((part) => part !== '')
  return line === undefined || line === '…' ? '' : line
}

function clipped(text: string): string {
  const line = oneLine(text)
  return line.length > 120 ? `${line.slice(0, 119)}…` : line
}
