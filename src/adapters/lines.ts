/** Bytes into lines. Bytes that are no UTF-8 become replacement characters. */
export class Lines {
  readonly #decoder = new TextDecoder()
  #rest = ''

  /** `maxLength`: characters of a line beyond which the rest of it is left out */
  constructor(private readonly maxLength = Infinity) {}

  /** the lines that end in these bytes, without their ends */
  add(bytes: Uint8Array): string[] {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split('\n')
    this.#rest = this.#short(lines.pop() ?? '')
    return lines.map((line) => this.#short(line))
  }

  /** what has no end yet, after which it begins anew */
  end(): string[] {
    const rest = this.#short(this.#rest + this.#decoder.decode())
    this.#rest = ''
    return rest === '' ? [] : [rest]
  }

  #short(line: string): string {
    return line.length > this.maxLength ? line.slice(0, this.maxLength) : line
  }
}

/** A text's lines, as they come. */
export async function* linesOf(bytes: AsyncIterable<unknown>, maxLength?: number): AsyncGenerator<string> {
  const lines = new Lines(maxLength)
  for await (const chunk of bytes as AsyncIterable<Uint8Array>) yield* lines.add(chunk)
  yield* lines.end()
}
