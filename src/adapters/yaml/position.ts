/** A place in a text; both count from 1. */
export interface YamlPosition {
  line: number
  column: number
}

/** Returns the line and the column of an offset. */
export function positionAt(text: string, offset: number): YamlPosition {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - lineStart + 1 }
}
