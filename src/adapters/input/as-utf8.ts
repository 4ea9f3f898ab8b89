/** so many units in a row that are each two letters of ASCII are no UTF-16: no language has words like that */
const most = 32
const isText = (byte: number): boolean => (byte >= 0x20 && byte < 0x7f) || byte === 9 || byte === 10 || byte === 13

/**
 * UTF-16 as UTF-8, and as it is from where it goes on in 8 bits: a file that PowerShell began, and that another shell
 * or the service appends to.
 */
export async function* asUtf8(
  blocks: AsyncIterable<Uint8Array>,
  encoding: 'utf-16le' | 'utf-16be',
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding)
  const decoded = (bytes: Uint8Array, stream = true): Buffer => Buffer.from(decoder.decode(bytes, { stream }))
  /** of the last block: units that may be text in 8 bits, and half of one */
  let held = Buffer.alloc(0)
  let isOver = false
  for await (const block of blocks) {
    if (isOver) {
      yield block
      continue
    }
    const bytes = Buffer.concat([held, block])
    let [at, run] = [0, 0]
    for (; at + 1 < bytes.length && run < most; at += 2)
      run = isText(bytes[at]!) && isText(bytes[at + 1]!) ? run + 1 : 0
    const start = at - 2 * run
    yield decoded(bytes.subarray(0, start))
    held = bytes.subarray(start)
    isOver = run === most
    if (!isOver) continue
    yield decoded(Buffer.alloc(0), false)
    yield held
    held = Buffer.alloc(0)
  }
  yield isOver ? held : decoded(held, false)
}
