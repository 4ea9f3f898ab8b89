import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProgramResult } from '../../adapters/process.ts'
import { AdminError, messageOf } from '../../core/error.ts'
import type { PlatformOptions } from '../platform.ts'
import type { Command } from './settings.ts'
import { typed } from '../../core/typed.ts'
import { command } from '../../core/shell-command.ts'

const keptCharacters = 10_000

/**
 * Runs a command that leaves a service behind. The service may inherit the command's output: so the command's end
 * counts, not its output's, and its standard output goes nowhere, lest the service writes into a pipe that nobody
 * reads. Throws UNAVAILABLE, TIMED_OUT, INTERRUPTED.
 */
export async function runStarter(
  words: Command,
  { timeoutMs, environment, signal }: PlatformOptions,
): Promise<ProgramResult> {
  const [file, ...parameters] = words
  const deadline = AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs)))
  const child = spawn(file, parameters, { stdio: ['ignore', 'ignore', 'pipe'], env: environment })
  let stderr = ''
  child.stderr.on('data', (bytes: Buffer) => (stderr = `${stderr}${bytes.toString()}`.slice(-keptCharacters)))
  try {
    const ended: unknown[] = await once(child, 'exit', {
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    })
    const [exitCode, endedBy] = ended as [number | null, string | null]
    // what it wrote last may still be on its way
    await sleep(50)
    return { exitCode, signal: endedBy, stdout: '', stderr, truncated: false }
  } catch (error) {
    child.kill()
    if (signal?.aborted)
      throw new AdminError('INTERRUPTED', `\`${typed(words)}\` was interrupted`, [], { cause: error })
    if (deadline.aborted) {
      throw new AdminError('TIMED_OUT', `\`${typed(words)}\` did not finish within ${timeoutMs / 1000} s`, [
        typed(words),
      ])
    }
    throw new AdminError(
      'UNAVAILABLE',
      `${file} cannot be started: ${messageOf(error)}`,
      [command`command -v ${file}`],
      {
        cause: error,
      },
    )
  } finally {
    child.stderr.destroy()
    child.unref()
  }
}
