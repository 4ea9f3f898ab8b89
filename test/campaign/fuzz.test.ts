import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleChild } from '../fuzz/bundle.ts'
import { inputOf } from '../fuzz/mutate.ts'
import type { Reader } from '../fuzz/reader.ts'
import { readers } from '../fuzz/readers/index.ts'
import type { Fuzzed } from '../fuzz/run.ts'
import { seed } from './seed.ts'

/** of each reader */
const inputs = 20_000
const mostMs = 60 * 60_000

type Said =
  | { fuzzed: Fuzzed & { seconds: number; megabytes: number } }
  | { ended: 'hang' | 'memory'; number: number; figure: number }

let program = ''
let failed = ''
beforeAll(async () => {
  const cache = 'node_modules/.cache'
  await mkdir(cache, { recursive: true })
  program = join(cache, `fuzz-child-${process.pid}.mjs`)
  await bundleChild(program)
  // inputs on which something failed stay, for whoever looks at them
  failed = await mkdtemp(join(tmpdir(), 'fuzz-failed-'))
})
afterAll(async () => {
  await rm(program, { force: true })
})

test.concurrent.each(readers)(
  '$name',
  async (reader) => {
    const said = await told(reader)
    if ('ended' in said) {
      const file = join(failed, `${said.ended}-${reader.name.replaceAll(/\W+/g, '-')}-${said.number}`)
      await writeFile(file, inputOf(reader, `${seed} ${reader.name}`, said.number))
      expect.fail(
        `${said.ended} (${said.ended === 'hang' ? `${said.figure} s` : `${said.figure} MB`}) on input ` +
          `${said.number} of seed ${seed}: ${file}`,
      )
    }
    const { fuzzed } = said
    process.stderr.write(
      `${reader.name}: ${fuzzed.inputs} inputs in ${fuzzed.seconds} s, the slowest ` +
        `${Math.round(fuzzed.slowestMs)} ms (input ${fuzzed.slowest}), at most ${fuzzed.megabytes} MB; ` +
        `${JSON.stringify(fuzzed.outcomes)}\n`,
    )
    expect(fuzzed.falls).toEqual([])
    expect(fuzzed.inputs).toBeGreaterThanOrEqual(20_000)
  },
  mostMs,
)

/** What the process of that reader said in the end. */
async function told({ name }: Reader): Promise<Said> {
  const child = spawn(process.execPath, ['--expose-gc', program, name, seed, String(inputs), failed], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (output += text))
  const code = await new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject))
  const line = output.split('\n').findLast((it) => it.startsWith('{'))
  if (line === undefined) throw new Error(`the process of ${name} exited with ${code} and said nothing: ${output}`)
  return JSON.parse(line) as Said
}
