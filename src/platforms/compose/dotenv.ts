import { changedText } from '../host/edit-setting.ts'

/**
 * A file of a compose project's variables with one of them set. To compose, other than to systemd, a sign # behind a
 * blank begins a comment (compose-spec, 12-interpolation.md), which stays. Null where it cannot be set, as behind a
 * quote that nobody closed.
 */
export function changedDotenv(file: Buffer, name: string, to: string): Buffer | null {
  const next = changedText(file, name, to)
  const line = new RegExp(
    `^[ \\t]*${name}[ \\t]*=(?:[ \\t]*(?:"(?:[^"\\\\\\n]|\\\\.)*"|'[^'\\n]*')|[^"'\\n]*?)?((?<![ \\t])[ \\t]+#[^\\r\\n]*)?\\r?$`,
    'gm',
  )
  // a character for each byte
  const comment = [...file.toString('latin1').matchAll(line)].at(-1)?.[1]
  if (next === null || comment === undefined) return next
  const text = next.toString('latin1')
  const end = [...text.matchAll(new RegExp(`^[ \\t]*${name}[ \\t]*=[^\\r\\n]*`, 'gm'))].at(-1)
  return end
    ? Buffer.from(
        `${text.slice(0, end.index + end[0].length)}${comment}${text.slice(end.index + end[0].length)}`,
        'latin1',
      )
    : next
}
