/** Splits bytes into lines. Bytes that are not UTF-8 become replacement characters. */
export class Lines {
  readonly #decoder = new TextDecoder()
  #rest = ''

  /** `maxLength`: characters kept of a line */
  constructor(private readonly maxLength = Infinity) {}

  /** Adds bytes. Returns the lines that end in them, without line ends */
  add(bytes: Uint8Array): string[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#rest = this.#short(lines.pop() ?? '')
    return lines.map((line) => this.#short(line))
  }

  /** Returns the last line if it has no end, and starts over */
  end(): string[] {
    const rest = this.#short(this.#rest + this.#decoder.decode())
    this.#rest = ''
    return rest === '' ? [] : [rest]
  }

  #short(line: string): string {
    return line.length > this.maxLength ? line.slice(0, this.maxLength) : line
  }
}

/** Yields the lines of a stream of bytes, each cut at `maxLength` characters. */
export async function* linesOf(bytes: AsyncIterable<unknown>, maxLength?: number): AsyncGenerator<string> {
  const lines = new Lines(maxLength)
  for await (const chunk of bytes as AsyncIterable<Uint8Array>) yield* lines.add(chunk)
  yield* lines.end()
}
