import { YamlEditError } from './edit.ts'
import { yamlTrees } from './tree.ts'
import type { YamlNode } from './tree.ts'
import { scalarText } from './write.ts'

interface ItemEdit {
  /** Beginning of the item, or the whole item (`bare`); the last match counts */
  prefix: string
  bare: string
  /** New text; null to remove the item */
  to: string | null
}

/**
 * Returns the text with one text item of the list at a path of keys set or removed. Adds a missing item after the last.
 * All else stays byte for byte. Throws `YamlEditError` if the path does not lead to a list of texts. The caller must
 * read the result back.
 */
export function editListItem(text: string, path: readonly string[], { prefix, bare, to }: ItemEdit): string {
  const list = listAt(text, path)
  const item = list.items.findLast((it) => it.kind === 'scalar' && (it.value === bare || it.value.startsWith(prefix)))
  if (item?.kind === 'scalar' && item.style !== 'block' && item.style !== 'empty') {
    return to === null ? withoutItem(text, list, item) : spliced(text, item.start, item.end, scalarText(to, item.style))
  }
  const last = list.items.at(-1)
  if (item || !last)
    throw new YamlEditError(`${path.join('.')} is a list that cannot hold this value`, lineAt(text, list.start))
  if (to === null) return text
  if (list.isFlow) return spliced(text, last.end, last.end, `, ${scalarText(to)}`)
  const end = endOfLine(text, last.end)
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const [dash] = /(?<![ \t])[ \t]*-[ \t]+$/.exec(text.slice(0, last.start)) ?? ['- ']
  return spliced(
    text,
    end,
    end,
    text[end - 1] === '\n' ? `${dash}${scalarText(to)}${newline}` : `${newline}${dash}${scalarText(to)}`,
  )
}

type List = Extract<YamlNode, { kind: 'sequence' }>

function listAt(text: string, path: readonly string[]): List {
  let node = yamlTrees(text)[0] ?? null
  for (const key of path) {
    const from: YamlNode | null = node
    node = (from?.kind === 'mapping' ? from.entries.findLast((it) => it.key === key)?.value : null) ?? null
    if (node?.kind === 'alias')
      throw new YamlEditError(
        `${path.join('.')} is reached through the alias *${node.name}, which is used elsewhere too`,
        lineAt(text, node.start),
      )
  }
  if (node?.kind === 'sequence') return node
  throw new YamlEditError(`${path.join('.')} is not a list here`, 1)
}

function withoutItem(text: string, list: List, item: YamlNode): string {
  const index = list.items.indexOf(item)
  if (!list.isFlow && list.items.length > 1)
    return spliced(text, text.lastIndexOf('\n', item.start) + 1, endOfLine(text, item.end), '')
  const [before, after] = [list.items[index - 1], list.items[index + 1]]
  if (list.isFlow && after) return spliced(text, item.start, after.start, '')
  if (list.isFlow && before) return spliced(text, before.end, item.end, '')
  if (list.isFlow) return spliced(text, item.start, item.end, '')
  throw new YamlEditError('it is the only item of its list', lineAt(text, item.start))
}

function spliced(text: string, start: number, end: number, insert: string): string {
  return text.slice(0, start) + insert + text.slice(end)
}

function endOfLine(text: string, from: number): number {
  const at = text.indexOf('\n', from)
  return at < 0 ? text.length : at + 1
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
