import { streamOf } from '../adapters/open-file.ts'
import { AdminError, messageOf } from '../core/error.ts'
import { utf16In } from '../adapters/input/file.ts'
import type { Suggestion } from '../core/shell-command.ts'

export interface InputOptions {
  /** Maximum bytes, so that a wrong file does not fill the memory */
  mostBytes: number
  /** What to type if it cannot be read */
  next: readonly Suggestion[]
}

/**
 * Returns the text of a file that the operator named, `-` for standard input, in UTF-8 or UTF-16. Throws USAGE if it
 * cannot be read or is too large.
 */
export async function readInput(
  file: string,
  options: InputOptions,
  input: AsyncIterable<Buffer | string> = process.stdin,
): Promise<string> {
  try {
    if (file === '-') return await bounded(input, file, options)
    return await bounded(streamOf(file), file, options)
  } catch (error) {
    if (error instanceof AdminError) throw error
    throw new AdminError('USAGE', `${inputName(file)} cannot be read: ${messageOf(error)}`, options.next, {
      cause: error,
    })
  }
}

async function bounded(
  stream: AsyncIterable<Buffer | string>,
  file: string,
  { mostBytes, next }: InputOptions,
): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    length += chunk.length
    if (length > mostBytes)
      throw new AdminError(
        'USAGE',
        `${inputName(file)} is larger than ${mostBytes / 1_000_000} MB: is it the right file?`,
        next,
      )
    chunks.push(Buffer.from(chunk))
  }
  const bytes = Buffer.concat(chunks)
  const utf16 = utf16In(bytes)
  return utf16 === null ? bytes.toString('utf8') : new TextDecoder(utf16).decode(bytes)
}

/** Returns the name of an input for messages. */
export function inputName(file: string): string {
  return file === '-' ? 'standard input' : file
}
