import { fstatSync } from 'node:fs'

/** Whether something is piped or redirected into this program; a terminal, and /dev/null, is nothing. */
export function isPiped(): boolean {
  try {
    const input = fstatSync(0)
    return input.isFIFO() || input.isFile()
  } catch {
    // it is closed
    return false
  }
}

/** Waits until standard input has something to read, or is at its end; false: it has nothing for so long. */
export async function hasInput(milliseconds: number, input: NodeJS.ReadStream = process.stdin): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (has: boolean) => (): void => {
      clearTimeout(timer)
      input.off('readable', ready).off('end', ready).off('error', ready)
      // an open pipe would keep this program from ending
      if (!has) input.destroy()
      resolve(has)
    }
    const ready = answer(true)
    const timer = setTimeout(answer(false), milliseconds)
    input.once('readable', ready).once('end', ready).once('error', ready)
  })
}
