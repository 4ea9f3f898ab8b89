/** All of it as one text, and the message of what it threw at its end; null where it ended well. */
export async function readAll(blocks: AsyncIterable<Uint8Array>): Promise<{ text: string; error: string | null }> {
  const all: Uint8Array[] = []
  let error: string | null = null
  try {
    for await (const block of blocks) all.push(Buffer.from(block))
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown)
  }
  return { text: Buffer.concat(all).toString('latin1'), error }
}

/** In blocks of so many bytes. */
export async function* inBlocks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
