import { harmless } from '../core/harmless.ts'

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
