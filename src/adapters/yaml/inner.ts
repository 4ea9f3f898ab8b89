import type { YamlNode } from './tree.ts'

/** A YAML text that is one value within another one, and what is left of a path below it. */
export interface InnerYaml {
  /** path to it in the outer one */
  at: readonly string[]
  rest: readonly string[]
  text: string
  /** line of the outer one, from 1, on which it starts */
  line: number
  /** offsets of its lines in the outer one */
  start: number
  end: number
  /** blanks before each of its lines */
  indent: string
}

/** Paths to such texts: the values of an Application of Argo CD (argo-cd.readthedocs.io, "Helm", `values`). */
const places: readonly (readonly string[])[] = [['spec', 'source', 'helm', 'values']]

/**
 * Returns the inner text that a path leads into; null if it leads into none, or into one that is not a literal block
 * (`|`).
 */
export function innerAt(text: string, tree: YamlNode | null, path: readonly string[]): InnerYaml | null {
  const at = places.find((it) => path.length > it.length && it.every((key, index) => path[index] === key))
  if (!at || topText(tree, 'kind') !== 'Application' || !topText(tree, 'apiVersion')?.startsWith('argoproj.io/'))
    return null
  const node = at.reduce<YamlNode | null>(
    (from, key) => (from?.kind === 'mapping' ? (from.entries.findLast((it) => it.key === key)?.value ?? null) : null),
    tree,
  )
  if (node?.kind !== 'scalar' || node.style !== 'block') return null
  const header = text.lastIndexOf('|', node.start - 1)
  const start = text.indexOf('\n', header) + 1
  const [, indent = ''] = /^(?:[ \t]*\r?\n)*( +)\S/.exec(text.slice(start, node.end)) ?? []
  if (header < 0 || start === 0 || !/^\|[-+]?[ \t]*(?:#.*)?\r?\n/.test(text.slice(header, start)) || indent === '')
    return null
  return {
    at,
    rest: path.slice(at.length),
    text: node.value,
    line: text.slice(0, start).split('\n').length,
    start,
    end: node.end,
    indent,
  }
}

/**
 * Returns the outer text with another inner one. Lines that both have stay byte for byte. The caller must read the
 * result back.
 */
export function withInner(text: string, { text: was, start, end, indent }: InnerYaml, next: string): string {
  const outer = text.slice(start, end).split('\n')
  const [from, to] = [was.split('\n'), next.split('\n')]
  let before = 0
  while (before < Math.min(from.length, to.length) && from[before] === to[before]) before += 1
  let behind = 0
  while (behind < Math.min(from.length, to.length) - before && from.at(-1 - behind) === to.at(-1 - behind)) behind += 1
  const ending = outer[0]?.endsWith('\r') === true ? '\r' : ''
  const made = to.slice(before, to.length - behind).map((line) => (line === '' ? ending : `${indent}${line}${ending}`))
  return (
    text.slice(0, start) +
    [...outer.slice(0, before), ...made, ...outer.slice(from.length - behind)].join('\n') +
    text.slice(end)
  )
}

function topText(tree: YamlNode | null, key: string): string | null {
  const node = tree?.kind === 'mapping' ? tree.entries.findLast((it) => it.key === key)?.value : undefined
  return node?.kind === 'scalar' ? node.value : null
}
