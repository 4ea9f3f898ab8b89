/** One assignment of a file, and where it stands in the text. */
export interface Assignment {
  name: string
  value: string
  /** Offset of its first line; `end` is behind its last line, the line's end included */
  start: number
  /** Offset behind its `=` */
  valueStart: number
  end: number
}

/**
 * Reads an environment file as systemd does (systemd.exec(5), EnvironmentFile=): `NAME=value` lines, comments with # or
 * ;, quotes, and a backslash that continues a line. A later assignment of a name overrides an earlier one. Ignores
 * lines that assign nothing.
 */
export function parseEnvironmentFile(text: string): Map<string, string> {
  return new Map(assignmentsIn(text).map(({ name, value }) => [name, value]))
}

/** Lists all assignments in order, including several of one name. */
export function assignmentsIn(text: string): Assignment[] {
  const assignments: Assignment[] = []
  const characters = new Characters(text)
  while (!characters.atEnd) {
    const start = characters.position
    const name = characters.takeWhile((it) => it !== '=' && it !== '\n').trim()
    const isComment = name.startsWith('#') || name.startsWith(';')
    if (characters.take() !== '=') continue
    if (isComment) {
      characters.takeWhile((it) => it !== '\n')
      continue
    }
    const valueStart = characters.position
    const value = readValue(characters)
    if (/^[A-Za-z_]\w*$/.test(name)) assignments.push({ name, value, start, valueStart, end: characters.position })
  }
  return assignments
}

/** Reads quoted parts, and skips blanks between them; from the first bare character on, quotes are plain characters. */
function readValue(characters: Characters): string {
  let value = ''
  while (!characters.atEnd) {
    const next = characters.take()
    if (next === '\n') return value
    if (next === "'") value += readSingleQuoted(characters)
    else if (next === '"') value += readDoubleQuoted(characters)
    else if (!/\s/.test(next)) return value + readBare(characters, next)
  }
  return value
}

function readSingleQuoted(characters: Characters): string {
  const quoted = characters.takeWhile((it) => it !== "'")
  characters.take()
  return quoted
}

function readDoubleQuoted(characters: Characters): string {
  let value = ''
  while (!characters.atEnd) {
    const next = characters.take()
    if (next === '"') return value
    if (next !== '\\') {
      value += next
      continue
    }
    const escaped = characters.take()
    if (escaped !== '\n') value += '"\\`$'.includes(escaped) ? escaped : `\\${escaped}`
  }
  return value
}

/** Reads up to the end of the line; drops blanks before that end unless they are escaped. */
function readBare(characters: Characters, first: string): string {
  let value = ''
  let kept = 0
  for (let next = first; next !== '' && next !== '\n'; next = characters.take()) {
    const character = next === '\\' ? characters.take().replace('\n', '') : next
    value += character
    if (next === '\\' || !/\s/.test(next)) kept = value.length
  }
  return value.slice(0, kept)
}

/** A text that is read once from start to end; CR LF at the end of a line counts as one character. */
class Characters {
  #next = 0

  constructor(private readonly text: string) {}

  get atEnd(): boolean {
    return this.#next >= this.text.length
  }

  get position(): number {
    return this.#next
  }

  /** Returns the next character; '' at the end */
  take(): string {
    const taken = this.#peek()
    this.#next += taken === '\n' && this.text.charAt(this.#next) === '\r' ? 2 : 1
    return taken
  }

  takeWhile(wanted: (character: string) => boolean): string {
    let taken = ''
    while (!this.atEnd && wanted(this.#peek())) taken += this.take()
    return taken
  }

  #peek(): string {
    return this.text.startsWith('\r\n', this.#next) ? '\n' : this.text.charAt(this.#next)
  }
}
