/**
 * Returns the UTF-16 form that the first bytes of a text mark, as in output that PowerShell redirects; null: another
 * encoding.
 */
export function utf16In(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : null
}
