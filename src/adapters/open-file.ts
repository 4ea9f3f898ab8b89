import { closeSync, constants, createReadStream, fstatSync, openSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'

// Windows lacks the last two
const unheld = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/**
 * Opens a file for reading without waiting for a pipe's writer or a terminal. The caller checks what kind of file it
 * is.
 */
export async function openUnheld(path: string): Promise<FileHandle> {
  return open(path, unheld)
}

/**
 * Opens a file, pipe or device for reading. Waits for a pipe only while somebody listens to the stream. Reading a pipe
 * as a file blocks a thread that nothing ends, and that keeps the process alive. Throws system errors.
 */
export function streamOf(path: string): Readable {
  const descriptor = openSync(path, unheld)
  const about = fstatSync(descriptor)
  if (about.isFIFO()) return new Socket({ fd: descriptor, readable: true, writable: false })
  if (about.isFile()) return createReadStream('', { fd: descriptor })
  closeSync(descriptor)
  return createReadStream(path)
}

/**
 * Reads a regular file of at most `mostBytes` bytes. Throws system errors, and an error for other kinds and larger
 * files.
 */
export async function plainFile(path: string, mostBytes: number): Promise<Buffer> {
  const handle = await openUnheld(path)
  try {
    const about = await handle.stat()
    if (!about.isFile()) throw new Error(about.isDirectory() ? 'it is a folder' : 'it is not a regular file')
    if (about.size > mostBytes) throw new Error(`it has more than ${mostBytes} bytes`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** True for a descriptor that this process inherited when it started. */
export function isHandedOver(path: string): boolean {
  return /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/.test(path)
}

export function noRegularFile(code: string): Error {
  return Object.assign(new Error(`${code}: no regular file`), { code })
}
