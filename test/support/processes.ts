import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

/** Returns living processes, except this one, with one of the marks in their command, environment or folder. */
export function processesWith(marks: readonly string[]): { pid: number; parent: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const read = (name: string): string => readFileSync(`/proc/${pid}/${name}`, 'latin1')
        const command = read('cmdline').replaceAll('\0', ' ')
        const told = `${command} ${read('environ')} ${readlinkSync(`/proc/${pid}/cwd`)}`
        // its name, in brackets, may hold brackets and spaces itself
        const parent = Number(read('stat').split(') ').at(-1)?.split(' ')[1])
        return marks.some((mark) => told.includes(mark)) ? [{ pid: Number(pid), parent, command }] : []
      } catch {
        return []
      }
    })
}
