import { parseTree } from 'jsonc-parser'
import type { Node } from 'jsonc-parser'
import { pathOf } from './spots.ts'
import type { Path } from './spots.ts'

/** What is to stand where. */
export interface Replacement {
  place: string
  value: string
}

interface Edit {
  offset: number
  length: number
  text: string
}

/**
 * A JSON text with some of its values replaced, and attachments added to its root's; all else stays as it is written,
 * to the last blank. Null where that cannot be done by position: a path leads nowhere, or the text is nested too deep
 * to be taken apart.
 */
export function editedJson(
  text: string,
  replacements: readonly Replacement[],
  attachments: readonly object[],
): string | null {
  const root = treeOf(text)
  if (root?.type !== 'object') return null
  const edits: Edit[] = []
  for (const { place, value } of replacements) {
    const node = nodeAt(root, pathOf(place))
    if (!node) return null
    edits.push({ offset: node.offset, length: node.length, text: JSON.stringify(value) })
  }
  if (attachments.length > 0) edits.push(addition(root, attachments.map((it) => JSON.stringify(it)).join(',')))
  return applied(text, edits)
}

function treeOf(text: string): Node | undefined {
  try {
    return parseTree(text)
  } catch (error) {
    // it calls itself for each level
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function nodeAt(root: Node, path: Path): Node | undefined {
  return path.reduce<Node | undefined>(
    (node, key) => (typeof key === 'number' ? node?.children?.[key] : member(node, key)),
    root,
  )
}

/** Of keys that stand twice the last one counts, as with JSON.parse. */
function member(node: Node | undefined, key: string): Node | undefined {
  return node?.children?.findLast((it) => it.children?.[0]?.value === key)?.children?.[1]
}

function addition(root: Node, items: string): Edit {
  const list = member(root, 'attachments')
  if (list?.type === 'array') {
    const last = list.children?.at(-1)
    return last
      ? { offset: last.offset + last.length, length: 0, text: `,${items}` }
      : { offset: list.offset, length: list.length, text: `[${items}]` }
  }
  if (list) return { offset: list.offset, length: list.length, text: `[${items}]` }
  return { offset: root.offset + 1, length: 0, text: `"attachments":[${items}]${root.children?.length ? ',' : ''}` }
}

function applied(text: string, edits: readonly Edit[]): string {
  const pieces: string[] = []
  let from = 0
  for (const { offset, length, text: put } of [...edits].sort((one, other) => one.offset - other.offset)) {
    pieces.push(text.slice(from, offset), put)
    from = offset + length
  }
  return pieces.join('') + text.slice(from)
}
