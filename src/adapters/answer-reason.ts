import { oneLine } from './failure.ts'
import { isRecord, jsonOf } from './http.ts'
import type { HttpAnswer } from './http.ts'
import { withoutSecrets } from '../core/redaction/index.ts'

/**
 * What an answer says about itself, for a message of ours: `HTTP 502, 'Bad Gateway'`. Of a redirect it is the target,
 * of JSON what its error fields say (Spring's, OAuth's, RFC 9457's, RabbitMQ's), of a page its title or first line.
 * Never a part of a JSON text, and neither time nor stack (FIELD-NOTES.md 1.3): one and the same error reads the same
 * each time. `hide` takes out what must not be shown, before anything is cut off.
 */
export function reasonOf(
  { status, headers, text }: Pick<HttpAnswer, 'status' | 'headers' | 'text'>,
  hide: (text: string) => string = withoutSecrets,
): string {
  const { location } = headers
  if (status >= 300 && status < 400 && location !== undefined)
    return `HTTP ${status}, to ${hide(location.split('?')[0] ?? '')}`
  const value = jsonOf({ text })
  const said = value === undefined ? saidByPage(text) : saidByJson(value)
  return `HTTP ${status}${said === '' ? '' : `, '${clipped(hide(said.slice(0, looked)))}'`}`
}

/** of a page without line ends, more is not looked through for tokens */
const looked = 1000

/** What went wrong, then why: for each, the first of these fields that exists. */
const whatFields = ['error', 'title']
const whyFields = ['error_description', 'message', 'detail', 'reason']

/** an error within an error within an error: nobody nests them deeper */
const mostLevels = 20

function saidByJson(value: unknown, level = 0): string {
  if (level > mostLevels) return ''
  if (typeof value === 'string') return firstLine(value)
  if (Array.isArray(value)) return value.length === 0 ? '' : saidByJson(value[0], level + 1)
  if (!isRecord(value)) return ''
  const what = textIn(value, whatFields)
  const why = textIn(value, whyFields)
  // the path that the service saw is not the one that was asked for where a proxy has changed it
  if (value['status'] === 404 && why === '') return [what, textIn(value, ['path'])].filter(Boolean).join(' ')
  const isRepeated = why.toLowerCase().includes(what.toLowerCase())
  const said = [isRepeated ? '' : what, why].filter(Boolean).join(': ')
  return said === '' ? saidByJson(value['error'] ?? value['errors'], level + 1) : said
}

function textIn(value: Readonly<Record<string, unknown>>, names: readonly string[]): string {
  const texts = names.map((name) => value[name]).filter((text) => typeof text === 'string')
  // what Spring writes where it has nothing to say
  return firstLine(texts.find((text) => text.trim() !== '' && text !== 'No message available') ?? '')
}

function saidByPage(text: string): string {
  const title = /<title[^<>]*>([^<]+)<\/title>/i.exec(text)?.[1]
  return firstLine(title ?? withoutScripts(text).replace(/<[^<>]*>/g, '\n'))
}

/** A page without its `<style` and `<script` elements. One without an end stays. */
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

/** The first line with text, up to where JSON begins in it. */
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
