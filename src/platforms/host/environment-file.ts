/**
 * Reads an environment file as systemd does (systemd.exec(5), EnvironmentFile=): `NAME=value` lines, comments with # or ;,
 * quotes, and a backslash that continues a line. A later assignment of a name stands above an earlier one; lines that
 * assign nothing are passed over.
 */
export function parseEnvironmentFile(text: string): Map<string, string> {
  const variables = new Map<string, string>()
  const characters = new Characters(text.replaceAll('\r\n', '\n'))
  while (!characters.atEnd) {
    const name = characters.takeWhile((it) => it !== '=' && it !== '\n').trim()
    const isComment = name.startsWith('#') || name.startsWith(';')
    if (characters.take() !== '=') continue
    if (isComment) {
      characters.takeWhile((it) => it !== '\n')
      continue
    }
    const value = readValue(characters)
    if (/^[A-Za-z_]\w*$/.test(name)) variables.set(name, value)
  }
  return variables
}

/** Quoted parts first, with blanks between them left out; from the first bare character on, quotes are plain characters. */
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

/** Up to the end of the line; blanks before that end do not count unless they are escaped. */
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

/** A text that is read once from its start to its end. */
class Characters {
  #next = 0

  constructor(private readonly text: string) {}

  get atEnd(): boolean {
    return this.#next >= this.text.length
  }

  /** '' at the end */
  take(): string {
    return this.text.charAt(this.#next++)
  }

  takeWhile(wanted: (character: string) => boolean): string {
    const from = this.#next
    while (!this.atEnd && wanted(this.text.charAt(this.#next))) this.#next++
    return this.text.slice(from, this.#next)
  }
}
