import type { Writable } from 'node:stream'

/** characters that are written at once */
const atOnce = 1 << 16

/** Writes a text in pieces, none before those ahead of it are taken; ends where nobody takes any more, which the stream tells. */
export async function write(stream: Writable, pieces: Iterable<string>): Promise<void> {
  let ready = ''
  for (const piece of pieces) {
    ready += piece
    if (ready.length < atOnce) continue
    if (!(await isTaken(stream, ready))) return
    ready = ''
  }
  if (ready !== '') await isTaken(stream, ready)
}

async function isTaken(stream: Writable, text: string): Promise<boolean> {
  return new Promise((resolve) => stream.write(text, (error) => resolve(!error)))
}
