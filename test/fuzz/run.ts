import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AdminError, exitCodes } from '../../src/core/error.ts'
import { errorText } from '../../src/output/error-text.ts'
import { plainScreen } from '../../src/output/paint.ts'
import { inputOf } from './mutate.ts'
import { shown } from './reader.ts'
import type { OpenReader, Reader } from './reader.ts'

/** An input on which the program would have exited with 70. */
interface Fall {
  number: number
  stack: string
  /** the input, as small as it could be made in a moment */
  file: string
}

export interface Fuzzed {
  inputs: number
  /** how many were taken, and how many refused with each code */
  outcomes: Record<string, number>
  /** the first of each kind */
  falls: Fall[]
  slowestMs: number
  slowest: number
}

interface Options {
  seed: string
  count: number
  /** the first number */
  from?: number
  /** where inputs that failed are left */
  failed?: string
  begin?: (number: number) => void
}

const mostKinds = 10
const mostTriesToShrink = 60

/** Gives a reader that many inputs, one after the other. */
export async function fuzz(
  reader: Reader,
  { seed, count, from = 0, failed = tmpdir(), begin = () => undefined }: Options,
): Promise<Fuzzed> {
  const folder = await mkdtemp(join(tmpdir(), 'fuzz-'))
  const open = await reader.open(folder)
  const done: Fuzzed = { inputs: 0, outcomes: {}, falls: [], slowestMs: 0, slowest: 0 }
  const kinds = new Set<string>()
  try {
    for (let number = from; number < from + count; number += 1) {
      const input = inputOf(reader, `${seed} ${reader.name}`, number)
      begin(number)
      const begun = performance.now()
      const outcome = await outcomeOf(open, input)
      const tookMs = performance.now() - begun
      if (tookMs > done.slowestMs) [done.slowestMs, done.slowest] = [tookMs, number]
      done.inputs += 1
      const key = typeof outcome === 'string' ? outcome : 'fell'
      done.outcomes[key] = (done.outcomes[key] ?? 0) + 1
      if (typeof outcome === 'string') continue
      const kind = kindOf(outcome)
      if (kinds.has(kind) || kinds.size === mostKinds) continue
      kinds.add(kind)
      const file = join(failed, `fuzz-${reader.name.replaceAll(/\W+/g, '-')}-${number}`)
      await writeFile(file, await shrunk(open, input, kind))
      done.falls.push({ number, stack: outcome.stack ?? String(outcome), file })
    }
  } finally {
    await open.close?.()
    await rm(folder, { recursive: true, force: true })
  }
  return done
}

/** `taken`, the code with which it was refused, or what no reader may throw. */
async function outcomeOf({ read }: OpenReader, input: Buffer): Promise<string | Error> {
  try {
    try {
      await read(input)
      return 'taken'
    } catch (error) {
      if (!(error instanceof AdminError)) throw error
      const { code, message, suggestions } = error
      if (!Object.hasOwn(exitCodes, code)) throw new Error(`${code} is no code`, { cause: error })
      shown(errorText({ error: { code, message, suggestions } }, plainScreen))
      return code
    }
  } catch (error) {
    return error instanceof Error ? error : new Error(`thrown: ${String(error)}`)
  }
}

/** What is thrown at one place is one kind. */
function kindOf({ name, stack = '', message }: Error): string {
  const place = /\n\s+at .*/.exec(stack)?.[0] ?? ''
  return `${name} ${message.replaceAll(/["'\d].*/gs, '')} ${name === 'RangeError' ? '' : place}`
}

/** Halves and pieces are left out for as long as it falls in the same way. */
async function shrunk(open: OpenReader, input: Buffer, kind: string): Promise<Buffer> {
  let small = input
  let size = Math.ceil(input.length / 2)
  for (let tried = 0; tried < mostTriesToShrink && size > 0; ) {
    let isSmaller = false
    for (let at = 0; at < small.length && tried < mostTriesToShrink; tried += 1) {
      const without = Buffer.concat([small.subarray(0, at), small.subarray(at + size)])
      const outcome = await outcomeOf(open, without)
      if (typeof outcome !== 'string' && kindOf(outcome) === kind) {
        small = without
        isSmaller = true
      } else at += size
    }
    if (!isSmaller) size = Math.floor(size / 2)
  }
  return small
}
