import { CORE_SCHEMA, YAML11_SCHEMA, load } from 'js-yaml'

/**
 * Writes a text as a scalar that every reader takes as that text. Leaves it bare only if neither YAML 1.1 nor 1.2 reads
 * something else (a number, a date, yes and no). Otherwise uses the requested quotes.
 */
export function scalarText(value: string, style: 'plain' | 'single' | 'double' = 'plain'): string {
  if (style === 'single' && !/[^\x20-\x7e\u00a0-\ud7ff]/.test(value)) return `'${value.replaceAll("'", "''")}'`
  if (style === 'plain' && /^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(value) && isTextBare(value)) return value
  return JSON.stringify(value)
}

function isTextBare(value: string): boolean {
  // digits with one letter among them (527u01) are a text; 52e7, 0x1f, 1_000 and 1:30 are not, to some reader
  if (/^[0-9]/.test(value) && !/[A-Za-df-z]/.test(value.replace(/^0[xob]/, ''))) return false
  return (
    [CORE_SCHEMA, YAML11_SCHEMA].every((schema) => load(value, { schema }) === value) &&
    !/^(?:y|n|yes|no|on|off|true|false|null)$/i.test(value)
  )
}

/** Writes keys below each other, each level indented further, with the value after the last. */
export function block(path: readonly string[], value: string, column: number, step: number): string[] {
  return path.map((key, depth) => {
    const last = depth === path.length - 1
    return `${' '.repeat(column + depth * step)}${scalarText(key)}:${last ? ` ${scalarText(value)}` : ''}`
  })
}

/** Writes nested keys and a value on one line, without the outer braces. */
export function flow(path: readonly string[], value: string): string {
  const [key = '', ...rest] = path
  return `${scalarText(key)}: ${rest.length === 0 ? scalarText(value) : `{${flow(rest, value)}}`}`
}

/** Returns the blanks per level in this file: as the first line below a bare key shows, else 2. */
export function indentStep(text: string): number {
  // indent of the last bare key; null if another line came since
  let above: number | null = null
  for (const line of text.split('\n')) {
    const [, blanks = '', sign] = /^( *)([^\s#-])?/.exec(line)!
    if (sign !== undefined && above !== null && blanks.length > above) return blanks.length - above
    if (!/^[ \t]*(?:#.*)?\r?$/.test(line))
      above = sign !== undefined && line.trimEnd().endsWith(':') ? blanks.length : null
  }
  return 2
}
