import { spawn } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../bin/run.js', import.meta.url))

/**
 * Keys to type once the terminal shows a text; each once, in this order. `afterMs`: wait before typing, in
 * milliseconds, if the program still runs then.
 */
export type Answer = readonly [shown: RegExp, keys: string | ((shown: string) => string), afterMs?: number]

export interface Terminal {
  cwd?: string
  env?: Readonly<Record<string, string>>
  columns?: number
  answers?: readonly Answer[]
}

export interface Shown {
  exitCode: number | null
  /** All output of both streams, without colours */
  text: string
}

/**
 * Types a line into a shell on a terminal of its own, where `testops-admin` is this program, and returns its output.
 */
export async function onTerminal(
  line: string,
  { cwd, env = {}, columns = 80, answers = [] }: Terminal = {},
): Promise<Shown> {
  const shell = spawn('script', ['-qefc', `stty cols ${columns}; ${line}`, '/dev/null'], {
    ...(cwd !== undefined && { cwd }),
    env: {
      ...process.env,
      SHELL: '/bin/bash',
      TERM: 'xterm',
      NO_COLOR: '1',
      ...env,
      PATH: `${binFolder()}:${process.env.PATH ?? ''}`,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const waiting = [...answers]
  const late: NodeJS.Timeout[] = []
  let text = ''
  let seen = 0
  const read = (bytes: Buffer): void => {
    text += bytes.toString()
    const [next] = waiting
    const shown = text.slice(seen)
    if (next?.[0].test(shown)) {
      waiting.shift()
      seen = text.length
      const [, keys, afterMs = 0] = next
      const write = (): void => void shell.stdin.write(typeof keys === 'string' ? keys : keys(shown))
      if (afterMs === 0) write()
      else late.push(setTimeout(write, afterMs))
    }
  }
  shell.stdout.on('data', read)
  shell.stderr.on('data', read)
  // the program may have ended already
  shell.stdin.on('error', () => undefined)
  const exitCode = await new Promise<number | null>((resolve) => shell.once('close', resolve))
  late.forEach(clearTimeout)
  return { exitCode, text: text.replaceAll('\r', '').replaceAll(/\u001B\[[\d;?]*[A-Za-z]/g, '') }
}

let folder: string | null = null

/** Returns a folder that holds the program under its own name. */
function binFolder(): string {
  if (folder !== null) return folder
  folder = mkdtempSync(join(tmpdir(), 'testops-admin-bin-'))
  writeFileSync(join(folder, 'testops-admin'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, {
    mode: 0o755,
  })
  return folder
}
