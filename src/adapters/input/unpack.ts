import { AdminError, messageOf } from '../../core/error.ts'
import { grouped } from '../../core/grouped.ts'
import { gunzip } from './gunzip.ts'
import type { Unpacker } from './unpacker.ts'

/**
 * Yields the contents of an archive, in constant memory; consecutive archives count as one. Yields what is readable of
 * one that is cut short or damaged, and then throws UNEXPECTED_ANSWER. Throws what `blocks` throws.
 */
export async function* unpacked(
  blocks: AsyncIterable<Uint8Array>,
  format: 'gzip' | 'zstd',
): AsyncGenerator<Uint8Array> {
  const unpacker = format === 'gzip' ? gunzip() : await unzstd()
  let held = 0
  const told = async function* (work: Promise<void>): AsyncGenerator<Uint8Array> {
    const error = await work.then(
      () => null,
      (reason: unknown) => reason,
    )
    for (const bytes of unpacker.ready()) {
      held += bytes.length
      yield bytes
    }
    if (error === null) return
    const what = isCutShort(error) ? 'is cut short' : `is damaged (${messageOf(error)})`
    throw new AdminError(
      'UNEXPECTED_ANSWER',
      `the ${format} archive ${what}: only the first ${grouped(held)} bytes of its contents could be read`,
      [],
      { cause: error },
    )
  }
  try {
    for await (const block of blocks) {
      for (let at = 0; at < block.length; at += unpacker.piece)
        yield* told(unpacker.take(block.subarray(at, at + unpacker.piece)))
    }
    yield* told(unpacker.end())
  } finally {
    unpacker.close()
  }
}

/** Opens an unpacker. Node's own, since 22.15, waits forever after the first of several frames (seen with 24.21). */
async function unzstd(): Promise<Unpacker> {
  const { Decompress } = await import('fzstd')
  let ready: Uint8Array[] = []
  const stream = new Decompress((bytes) => void ready.push(bytes))
  return {
    // four packed bytes may hold 128 kB
    piece: 1024,
    take: async (piece) => void stream.push(piece, false),
    end: async () => void stream.push(new Uint8Array(0), true),
    ready() {
      const all = ready
      ready = []
      return all
    },
    close: () => undefined,
  }
}

/** True for the error that fzstd and `gunzip` throw when an archive is cut short. */
function isCutShort(error: unknown): boolean {
  return messageOf(error) === 'unexpected EOF'
}
