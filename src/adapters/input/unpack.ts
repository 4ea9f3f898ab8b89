import { AdminError, messageOf } from '../../core/error.ts'
import { grouped } from '../../core/grouped.ts'
import { gunzip } from './gunzip.ts'
import type { Unpacker } from './unpacker.ts'

/**
 * What an archive holds, in constant memory; several that were written one after the other are one. Gives what can be
 * had of one that is cut short or damaged, and then throws UNEXPECTED_ANSWER. Throws what the blocks throw.
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

/** Node's own, from 22.15 on, waits for ever at the end of the first of several frames (seen with 24.21). */
async function unzstd(): Promise<Unpacker> {
  const { Decompress } = await import('fzstd')
  let ready: Uint8Array[] = []
  const stream = new Decompress((bytes) => void ready.push(bytes))
  return {
    // four bytes of it may hold 128 kB
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

/** As fzstd and we say it. */
function isCutShort(error: unknown): boolean {
  return messageOf(error) === 'unexpected EOF'
}
