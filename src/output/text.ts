const controls = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/gu

/**
 * Text from outside (names of queues, log lines, messages of servers) made safe for a terminal: what would move the
 * cursor, change colours or turn the direction of writing is replaced, and halves of characters. Line breaks become blanks.
 */
export function printable(text: string): string {
  return text
    .replace(/\s*[\r\n]+\s*/g, ' ')
    .replace(/\t/g, ' ')
    .replace(controls, '\ufffd')
}

/** Columns that a text takes. Combining marks take none, East Asian wide characters and emoji two. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text) {
    if (/\p{Mark}/u.test(character)) continue
    width += isWide(character.codePointAt(0) ?? 0) ? 2 : 1
  }
  return width
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff)
  )
}

/** Fills a text with blanks up to a width. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** Cuts a text that is too wide, and shows that it was cut. */
export function clip(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  for (const character of text) {
    if (widthOf(kept + character) > width - 1) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}

/**
 * Breaks a text at blanks into lines of at most `width` columns. A word that is wider stays whole on a line of its own,
 * so that an address or a command can still be copied.
 */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/ +/)) {
    const longer = line ? `${line} ${word}` : word
    if (line && widthOf(longer) > width) {
      lines.push(line)
      line = word
    } else line = longer
  }
  lines.push(line)
  return lines
}

/** A wrapped text whose first line begins with `first` and whose others begin with as many blanks. */
export function hang(first: string, text: string, columns: number): string[] {
  const width = widthOf(first)
  return wrap(text, Math.max(20, columns - width)).map((line, index) => (index === 0 ? first : ' '.repeat(width)) + line)
}

/** `1 problem`, `2 problems`. */
export function countOf(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`
}
