import { assignmentsIn, parseEnvironmentFile } from './environment-file.ts'

/** Returns the value that a file gives to a setting; null if it gives none. */
export function valueIn(file: Buffer, name: string): string | null {
  const value = parseEnvironmentFile(binary(file)).get(name)
  return value === undefined ? null : Buffer.from(value, 'latin1').toString('utf8')
}

/**
 * Sets one setting in a file, in place of the last assignment that counts, else at the end; null removes it. Returns
 * null if the result would not read as wanted, as after an unclosed quote.
 */
export function changedText(file: Buffer, name: string, to: string | null): Buffer | null {
  const text = binary(file)
  const next = to === null ? without(text, name) : withValue(text, name, binary(Buffer.from(to, 'utf8')))
  const wanted = parseEnvironmentFile(text)
  if (to === null) wanted.delete(name)
  else wanted.set(name, binary(Buffer.from(to, 'utf8')))
  return isSame(parseEnvironmentFile(next), wanted) ? Buffer.from(next, 'latin1') : null
}

/** One character per byte, so that text outside UTF-8 stays unchanged. */
function binary(bytes: Buffer): string {
  return bytes.toString('latin1')
}

function withValue(text: string, name: string, value: string): string {
  const last = assignmentsIn(text).findLast((it) => it.name === name)
  const newline = /\r?\n/.exec(text)?.[0] ?? '\n'
  if (last === undefined) {
    const before = text === '' || text.endsWith('\n') ? text : `${text}${newline}`
    return `${before}${name}=${quoted(value)}${newline}`
  }
  const old = text.slice(last.valueStart, last.end)
  const [blanks = ''] = /^[ \t]*/.exec(old) ?? []
  const [end = ''] = /\r?\n$/.exec(old) ?? []
  return `${text.slice(0, last.valueStart)}${blanks}${quoted(value)}${end}${text.slice(last.end)}`
}

/** Removes every assignment: without only the last one, an earlier one would apply. */
function without(text: string, name: string): string {
  const kept: string[] = []
  let from = 0
  for (const { start, end } of assignmentsIn(text).filter((it) => it.name === name)) {
    kept.push(text.slice(from, start))
    from = end
  }
  return kept.join('') + text.slice(from)
}

/** Quotes a value so that systemd and a shell read it alike. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]*$/.test(value) ? value : `"${value.replace(/(["\\$`])/g, '\\$1')}"`
}

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([name, value]) => other.get(name) === value)
}
