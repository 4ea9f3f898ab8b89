import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** Longest that each may take beside other tests on a busy machine. */
const timeoutMs = 600_000

/** With more memory, garbage collection runs less often. */
const roomy = { ...process.env, NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --max-semi-space-size=64` }

/** What a command printed, and how it ended. */
async function ended(program: string, ...words: string[]): Promise<{ exitCode: number | null; printed: string }> {
  const child = spawn(program, words, { cwd: root, env: roomy, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (printed += bytes.toString()))
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { exitCode, printed }
}

// beside the tests, which often wait: before them, they would cost two minutes
test.each([
  ['types', ['npm', 'run', '-s', 'typecheck']],
  ['lint', ['npm', 'run', '-s', 'lint']],
  ['documents', [process.execPath, 'bin/docs.js', '--check']],
] as const)(
  'the house is in order: %s',
  async (_, [program, ...words]) => {
    const { exitCode, printed } = await ended(program, ...words)
    expect(exitCode, printed).toBe(0)
  },
  timeoutMs,
)
