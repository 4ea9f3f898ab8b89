import { harmless, harmlessLines } from '../core/harmless.ts'
import { printable } from './text.ts'

/** Returns a Markdown table. Cells may hold any text: bars and line ends are made harmless. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')
}

function cell(text: string): string {
  return harmless(text.replace(/(?<!\s)\s*\n\s*/g, ' ')).replaceAll('|', '\\|')
}

/** Returns a source (pages separated by commas) with links to its pages, for a page of docs/reference. */
export function linkedSource(source: string): string {
  return source.split(', ').map(linkedPage).join(', ')
}

function linkedPage(page: string): string {
  const [, path, part] = /^docs\/([\w/-]{1,100})\.md(?:#([\w-]{1,100}))?$/.exec(page) ?? []
  if (path === undefined) return page
  const name = path.slice(path.lastIndexOf('/') + 1)
  return (
    `[${name}${part === undefined ? '' : `: ${part.replaceAll('-', ' ')}`}](../${path}.md` +
    `${part === undefined ? '' : `#${part}`})`
  )
}

/**
 * Replaces what stands between `<!-- generated: NAME -->` and `<!-- /generated -->` in a document. Throws an error for
 * a name without text.
 */
export function withGenerated(document: string, texts: Readonly<Record<string, string>>): string {
  return document.replace(
    /(<!-- generated: ([\w-]+) -->\n)(?:(?!<!-- generated: )[\s\S])*?(<!-- \/generated -->)/g,
    (_, begin: string, name: string, end: string) => {
      const text = texts[name]
      if (text === undefined) throw new Error(`nothing generates \`${name}\``)
      return `${begin}${text}\n${end}`
    },
  )
}

/** Maximum characters shown of a text from outside, which may be of any length */
const longest = 500

/** Escapes text for Markdown and HTML; only code in backquotes keeps its meaning. Cuts it after `most` characters. */
export function markdownText(text: string, most = longest): string {
  const line = printable(text)
  const short = line.length > most ? `${line.slice(0, most)}…` : line
  const pieces = short.split(/(`[^`]+`)/)
  return pieces.map((piece, index) => (index % 2 === 1 ? piece : literal(piece))).join('')
}

function literal(text: string): string {
  return (
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replace(/[\\`*_{}[\]~|#!$]/g, '\\$&')
      // no mention of somebody
      .replace(/@(?=\w)/g, '&#64;')
  )
}

/** Returns a name from outside as code within a line. */
export function markdownCode(name: string): string {
  return `\`${printable(name).replaceAll('`', "'")}\``
}

/**
 * Returns texts from outside as a block of code: the fence is longer than any within them. Further lines of a text are
 * indented: they do not pass for a text of their own.
 */
export function markdownBlock(texts: readonly string[]): string {
  const shown = texts.flatMap((text) => text.split(/\r?\n/).map((it, at) => `${at === 0 ? '' : '  '}${printable(it)}`))
  const longestRun = Math.max(2, ...shown.flatMap((line) => [...line.matchAll(/`+/g)].map(([run]) => run.length)))
  const fence = '`'.repeat(longestRun + 1)
  return [fence, ...shown, fence].join('\n')
}

/** Returns a text for XML 1.0, in attributes and between tags. Characters that XML forbids are shown as text. */
export function xmlText(text: string): string {
  return harmlessLines(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Returns an element with `content`, which is XML already; without content, an empty-element tag. */
export function xmlElement(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: readonly string[] = [],
): string {
  const head = [
    name,
    ...Object.entries(attributes).map(([key, value]) => `${key}="${xmlText(String(value)).replaceAll('\n', '&#10;')}"`),
  ].join(' ')
  return content.length === 0 ? `<${head}/>` : `<${head}>${content.join('')}</${name}>`
}

/** A piece of an HTML page: all text from outside in it is escaped. */
export class Html {
  /** What a document from outside holds is no piece of this, whatever its keys */
  readonly #isOwn = true

  constructor(readonly html: string) {}

  static isIt(value: object): value is Html {
    return #isOwn in value && value.#isOwn
  }
}

type HtmlValue = Html | string | number | readonly Html[]

/** Makes HTML of a template: keeps its own text and pieces of HTML, and escapes all else. */
export function html(texts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  return new Html(texts.map((text, at) => text + htmlOf(values[at] ?? '')).join(''))
}

function htmlOf(value: HtmlValue): string {
  if (typeof value === 'string') return htmlText(value)
  if (typeof value === 'number') return String(value)
  if (Html.isIt(value)) return value.html
  return value.map((it) => (Html.isIt(it) ? it.html : htmlText(String(it)))).join('')
}

/** Maximum characters of a text from outside on a page */
const longestOnPage = 2000

/**
 * Returns text from outside as one line of HTML, for attributes in quotation marks and between tags. Cuts a long text,
 * and says how much it left out.
 */
export function htmlText(text: string, longest = longestOnPage): string {
  const left = text.length - longest
  const shown = left > 0 ? `${printable(text.slice(0, longest))}… (${left} more characters)` : printable(text)
  return shown
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}
