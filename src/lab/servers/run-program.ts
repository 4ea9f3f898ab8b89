import { execFile } from 'node:child_process'
import { messageOf } from '../../core/error.ts'
import type { Account } from './types.ts'

export interface RunOptions {
  environment?: Readonly<Record<string, string | undefined>>
  workingDirectory?: string
  timeoutMs?: number
  account?: Account | null
  signal?: AbortSignal | undefined
}

export type Ran = { ok: true; stdout: string } | { ok: false; stdout: string; message: string }

/** Runs a program to its end; how it failed is a value. The message is its last line on standard error. */
export function tryProgram(file: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(
      file,
      args,
      {
        encoding: 'utf8',
        maxBuffer: 64 * 1024 * 1024,
        timeout: options.timeoutMs ?? 0,
        killSignal: 'SIGKILL',
        ...(options.workingDirectory ? { cwd: options.workingDirectory } : {}),
        ...(options.environment ? { env: options.environment } : {}),
        ...(options.account ? { uid: options.account.uid, gid: options.account.gid } : {}),
        ...(options.signal ? { signal: options.signal } : {}),
      },
      (error, stdout, stderr) => {
        if (!error) return resolve({ ok: true, stdout })
        const said = stderr.trim().split('\n').filter(Boolean)
        const message =
          error.killed && !options.signal?.aborted
            ? `no answer within ${options.timeoutMs} ms`
            : (said.at(-1) ?? messageOf(error))
        resolve({ ok: false, stdout, message: said.length > 1 ? `${said.at(-2)} ${message}` : message })
      },
    )
  })
}

/** As `tryProgram`, but throws an `Error` where it fails. */
export async function runProgram(file: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const ran = await tryProgram(file, args, options)
  if (!ran.ok) throw new Error(`${file} ${args[0] ?? ''}: ${ran.message}`)
  return ran.stdout
}
