import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mayShare, ofGo, runWarm } from '../support/warm/index.ts'

export const program = join(dirname(fileURLToPath(import.meta.url)), '../../bin/run.js')

/** Keeps compiled code for all places: a cold start costs twice the processor time. */
const compiled = join(tmpdir(), `testops-admin-compiled-${process.getuid?.() ?? 0}`)

export interface Ended {
  stdout: string
  stderr: string
  exitCode: number | null
  milliseconds: number
}

/** A folder of its own in which the built program is run, as by a user who has never run it before. */
export interface Place {
  directory: string
  write(name: string, text: string): Promise<string>
  run(
    words: readonly string[],
    options?: {
      environment?: Record<string, string>
      input?: string | Uint8Array
      meanwhile?: (child: ChildProcess) => unknown
    },
  ): Promise<Ended>
  remove(): Promise<void>
}

/** Commands share a process, except those that are killed or read their input. `isApart`: each has its own. */
export async function freshPlace({ isApart = false } = {}): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'testops-admin-'))
  await mkdir(compiled, { recursive: true, mode: 0o700 })
  return {
    directory,
    async write(name, text) {
      const file = join(directory, name)
      await writeFile(file, text, { mode: 0o600 })
      return file
    },
    run: async (words, { environment = {}, input, meanwhile } = {}) => {
      const begin = performance.now()
      const env = {
        PATH: process.env.PATH ?? '',
        HOME: directory,
        XDG_CACHE_HOME: compiled,
        LANG: 'C.UTF-8',
        TZ: 'UTC',
        ...ofGo,
        ...environment,
      }
      if (!isApart && input === undefined && !meanwhile && mayShare(env))
        return { ...(await runWarm({ words, directory, environment: env })), milliseconds: performance.now() - begin }
      return new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [program, ...words], {
          cwd: directory,
          env,
          stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
        })
        child.stdin?.on('error', () => undefined).end(input)
        const texts = { stdout: '', stderr: '' }
        child.stdout?.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text))
        child.stderr?.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text))
        child.once('error', reject)
        child.once('close', (exitCode) => resolve({ ...texts, exitCode, milliseconds: performance.now() - begin }))
        meanwhile?.(child)
      })
    },
    remove: async () => rm(directory, { recursive: true, force: true }),
  }
}
