import { Writable } from 'node:stream'

/**
 * A terminal that can be looked at: understands what the program writes to one (text, line ends, carriage returns,
 * colours, and the four sequences that move or erase), wraps lines that are too long and scrolls, as a terminal does.
 */
export class Terminal {
  readonly stdout: Writable & { isTTY: true; columns: number; rows: number }
  readonly stderr: Writable & { isTTY: true; columns: number; rows: number }
  /** what stood on the screen after each write */
  readonly seen: string[][] = []
  /** lines that have left the screen at its top */
  readonly scrolled: string[] = []
  #lines: string[] = ['']
  #row = 0
  #column = 0

  constructor(
    readonly columns: number,
    readonly rows: number,
  ) {
    this.stdout = this.#stream()
    this.stderr = this.#stream()
  }

  /** What stands on the screen now, without the blank lines at its end. */
  get screen(): string[] {
    const last = this.#lines.findLastIndex((line) => line.trim() !== '')
    return this.#lines.slice(0, last + 1).map((line) => line.trimEnd())
  }

  #stream(): Writable & { isTTY: true; columns: number; rows: number } {
    const stream = new Writable({
      decodeStrings: false,
      write: (text: string, _encoding, done) => {
        this.#show(text)
        this.seen.push(this.screen)
        done()
      },
    })
    return Object.assign(stream, { isTTY: true as const, columns: this.columns, rows: this.rows })
  }

  #show(text: string): void {
    for (const [piece] of text.matchAll(/\u001b\[[\d;]*[A-Za-z]|[\s\S]/gu)) {
      if (piece.startsWith('\u001b')) this.#obey(piece)
      else if (piece === '\r') this.#column = 0
      else if (piece === '\n') this.#newLine()
      else this.#put(piece)
    }
  }

  #obey(sequence: string): void {
    const number = Number(sequence.slice(2, -1)) || 1
    switch (sequence.at(-1)) {
      case 'm':
        return
      case 'A':
        this.#row = Math.max(0, this.#row - number)
        return
      case 'H':
        this.#row = this.#column = 0
        return
      case 'K':
        this.#lines[this.#row] = this.#line().slice(0, this.#column)
        return
      case 'J':
        this.#lines[this.#row] = this.#line().slice(0, this.#column)
        this.#lines.length = this.#row + 1
        return
      default:
        throw new Error(`the terminal does not know ${JSON.stringify(sequence)}`)
    }
  }

  #put(character: string): void {
    if (this.#column >= this.columns) this.#newLine()
    const line = this.#line().padEnd(this.#column)
    this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1)
    this.#column += 1
  }

  #newLine(): void {
    this.#column = 0
    this.#row += 1
    this.#lines[this.#row] ??= ''
    if (this.#row < this.rows) return
    this.scrolled.push(this.#lines.shift() ?? '')
    this.#row -= 1
  }

  #line(): string {
    return this.#lines[this.#row] ?? ''
  }
}
