import { harmlessJson, jsonWithoutBuildCommands } from '../core/harmless.ts'

/**
 * Yields one JSON document in pieces, so that a large one is never one text. It is as `JSON.stringify(value, null, 2)`
 * writes it, except for what `harmlessJson` escapes. Each value deeper than `depth` lists and objects is one piece.
 * `value` must be plain data. A build server finds no command in it.
 */
export function* jsonPieces(value: unknown, depth: number, indent = ''): Generator<string> {
  if (depth === 0 || typeof value !== 'object' || value === null) {
    yield jsonWithoutBuildCommands(harmlessJson(JSON.stringify(value, null, 2))).replaceAll('\n', `\n${indent}`)
    return
  }
  const isList = Array.isArray(value)
  const [open, close] = isList ? '[]' : '{}'
  const inner = `${indent}  `
  let before = `${open}\n`
  for (const [key, item] of Object.entries(value as Record<string, unknown>)) {
    if (item === undefined) continue
    yield `${before}${inner}${isList ? '' : `${jsonWithoutBuildCommands(harmlessJson(JSON.stringify(key)))}: `}`
    yield* jsonPieces(item, depth - 1, inner)
    before = ',\n'
  }
  yield before === ',\n' ? `\n${indent}${close}` : `${open}${close}`
}
