import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'

// Windows knows neither
const unheld = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/**
 * Opens a file for reading; a pipe to which nobody writes, or a terminal, does not hold it up. What it is, who opens it
 * asks.
 */
export async function openUnheld(path: string): Promise<FileHandle> {
  return open(path, unheld)
}

/**
 * What a name leads to, file, pipe or device. A pipe is waited for as long as somebody listens to the stream and no
 * longer: reading one as a file takes a thread that nothing ends, and that keeps the process from ending, too. Throws
 * what the system throws.
 */
export function streamOf(path: string): Readable {
  const descriptor = openSync(path, unheld)
  const about = fstatSync(descriptor)
  if (about.isFIFO()) return new Socket({ fd: descriptor, readable: true, writable: false })
  if (about.isFile()) return createReadStream('', { fd: descriptor })
  closeSync(descriptor)
  return createReadStream(path)
}

/** The bytes of a plain file of at most so many. Throws what the system throws, and where it is no file or larger. */
export async function plainFile(path: string, mostBytes: number): Promise<Buffer> {
  const handle = await openUnheld(path)
  try {
    const about = await handle.stat()
    if (!about.isFile()) throw new Error(about.isDirectory() ? 'it is a folder' : 'it is no plain file')
    if (about.size > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}
