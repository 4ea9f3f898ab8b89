import { open } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { codeOf, messageOf } from '../../core/error.ts'

/** The bytes of a file or a pipe; null where there are more than `maxBytes`. Throws what the system throws. */
export async function readUpTo(path: string, maxBytes: number): Promise<Buffer | null> {
  const handle = await open(path)
  try {
    // a pipe has no size that could be asked
    const content = await buffer(handle.createReadStream({ end: maxBytes, autoClose: false }))
    return content.length > maxBytes ? null : content
  } finally {
    await handle.close()
  }
}

/** Why a file cannot be read, in the operator's words. */
export function whyUnreadable(error: unknown): string {
  const code = codeOf(error)
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied'
  if (code === 'EISDIR') return 'it is a directory'
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'it is not UTF-8 text'
  return messageOf(error)
}
