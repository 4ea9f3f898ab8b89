import { endOf, runProgram } from '../../adapters/process.ts'
import { AdminError } from '../../core/error.ts'
import type { Account } from './types.ts'

export interface TryOptions {
  /** its whole environment; this process's own if left out */
  environment?: Readonly<Record<string, string | undefined>>
  workingDirectory?: string
  /** no limit if left out */
  timeoutMs?: number
  account?: Account | null
  signal?: AbortSignal | undefined
}

export type Tried = { ok: true; stdout: string } | { ok: false; message: string }

const maxBytes = 64 * 1024 * 1024

/**
 * Runs a program until it exits. Returns a failure as a value: its last two lines on standard error, else how it exited
 * or why it did not start.
 */
export async function tryProgram(file: string, args: readonly string[], options: TryOptions = {}): Promise<Tried> {
  const { environment, workingDirectory, timeoutMs = null, account = null, signal } = options
  try {
    const result = await runProgram([file, ...args], {
      timeoutMs,
      maxBytes,
      account,
      signal,
      ...(environment && { environment, isolated: true }),
      ...(workingDirectory !== undefined && { directory: workingDirectory }),
    })
    if (result.exitCode === 0) return { ok: true, stdout: result.stdout }
    const said = result.stderr
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
    return { ok: false, message: said.length > 0 ? said.slice(-2).join(' ') : endOf(result) }
  } catch (error) {
    if (error instanceof AdminError) return { ok: false, message: error.message }
    throw error
  }
}
