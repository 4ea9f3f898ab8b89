import type { InflateRaw } from 'node:zlib'
import { crc32, createInflateRaw } from 'node:zlib'
import { AdminError, messageOf } from '../../core/error.ts'
import { grouped } from '../../core/format.ts'

/** Bits of the fourth byte of a header, one for each optional field (RFC 1952, 2.3.1). */
const [hasHeaderSum, hasExtra, hasName, hasComment] = [2, 4, 8, 16]
const [fixedHeader, trailerLength] = [10, 8]

/** Returns where the data of a member begins; null if its header is incomplete. Throws if there is no header. */
function headerEnd(bytes: Buffer): number | null {
  if ([0x1f, 0x8b, 8].some((byte, index) => index < bytes.length && bytes[index] !== byte))
    throw new Error('incorrect header')
  if (bytes.length < fixedHeader) return null
  const flags = bytes[3]!
  let at = fixedHeader
  if ((flags & hasExtra) !== 0) at = bytes.length < at + 2 ? Infinity : at + 2 + bytes.readUInt16LE(at)
  for (const flag of [hasName, hasComment]) {
    if ((flags & flag) === 0) continue
    const end = bytes.indexOf(0, at)
    at = end < 0 ? Infinity : end + 1
  }
  if ((flags & hasHeaderSum) !== 0) at += 2
  return at <= bytes.length ? at : null
}

/** The unpacked data of one member. */
interface Member {
  readonly stream: InflateRaw
  isOver: boolean
  sum: number
  /** Bytes, modulo 2^32, as the trailer has it */
  length: number
}

function openMember(take: (bytes: Uint8Array) => void): Member {
  const member: Member = { stream: createInflateRaw({ chunkSize: 65_536 }), isOver: false, sum: 0, length: 0 }
  member.stream
    .on('data', (bytes: Uint8Array) => {
      member.sum = crc32(bytes, member.sum)
      member.length = (member.length + bytes.length) >>> 0
      take(bytes)
    })
    .on('end', () => void (member.isOver = true))
    // the writer handles it
    .on('error', () => undefined)
  return member
}

/** Writes bytes to a member. Returns those after the end of its data. Throws if the data is damaged. */
async function left({ stream }: Member, bytes: Buffer): Promise<Buffer> {
  const before = stream.bytesWritten
  await new Promise<void>((resolve, reject) => {
    const end = (): void => resolve()
    // the write callback is not called if bytes are left over, or if the data is damaged
    stream.once('end', end).once('error', reject)
    stream.write(bytes, (error) => {
      stream.off('end', end).off('error', reject)
      if (error) reject(error)
      else resolve()
    })
  })
  return bytes.subarray(stream.bytesWritten - before)
}

/**
 * Returns an unpacker for consecutive members, even with zeros after them, as on tapes. Node's own reader discards what
 * it has of a member if something else follows. If zeros follow, it waits forever (seen with 20.20).
 */
function gunzip(): Unpacker {
  let ready: Uint8Array[] = []
  let held: Buffer = Buffer.alloc(0)
  let member: Member | null = null
  let members = 0

  /** Takes one step. Returns true if the bytes at hand may allow another. */
  const step = async (): Promise<boolean> => {
    if (member === null) {
      // zeros after a member are padding, not a member
      const isPadded = members > 0 && held.every((byte) => byte === 0)
      const begin = isPadded ? null : headerEnd(held)
      if (isPadded) held = Buffer.alloc(0)
      if (begin === null) return false
      member = openMember((bytes) => void ready.push(bytes))
      held = held.subarray(begin)
    }
    if (!member.isOver) {
      if (held.length > 0) held = await left(member, held)
      if (!member.isOver) return false
    }
    if (held.length < trailerLength) return false
    if (held.readUInt32LE(0) !== member.sum || held.readUInt32LE(4) !== member.length)
      throw new Error('incorrect data check')
    held = held.subarray(trailerLength)
    member = null
    members += 1
    return held.length > 0
  }
  return {
    piece: 16_384,
    async take(piece) {
      held = Buffer.concat([held, piece])
      while (await step()) continue
    },
    async end() {
      if (member !== null || held.length > 0 || members === 0) throw new Error('unexpected EOF')
    },
    ready() {
      const all = ready
      ready = []
      return all
    },
    close: () => void member?.stream.destroy(),
  }
}

/**
 * Yields the contents of an archive, in constant memory; consecutive archives count as one. Yields what is readable of
 * one that is incomplete or damaged, and then throws UNEXPECTED_ANSWER. Throws what `blocks` throws.
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
    const what = isCutShort(error) ? 'is incomplete' : `is damaged (${messageOf(error)})`
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

/** True for the error that fzstd and `gunzip` throw when an archive is incomplete. */
function isCutShort(error: unknown): boolean {
  return messageOf(error) === 'unexpected EOF'
}

/** Unpacks an archive piece by piece. */
interface Unpacker {
  /** Takes packed bytes. Throws if they are not such an archive */
  take(piece: Uint8Array): Promise<void>
  /** Ends the input. Throws if the archive is cut short */
  end(): Promise<void>
  /** Returns what was unpacked since the last call, including what comes before damage */
  ready(): readonly Uint8Array[]
  close(): void
  /** Bytes to take at a time: all that these hold is kept in memory at once */
  readonly piece: number
}
