import { spawn } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { failpoints } from '../../src/core/failpoint.ts'

/** How a process ends that passes `reached` one after the other, and what it said before. */
async function passed(wanted: string, reached: readonly string[]): Promise<string> {
  const module = new URL('../../src/core/failpoint.ts', import.meta.url).href
  // Node 20 reads no TypeScript: the one function is taken as it stands, without its types
  const source = failpoints.toString()
  const program =
    `const failpoints = ${source}\nconst at = failpoints(${JSON.stringify(wanted)})\nfor (const name of ` +
    `${JSON.stringify(reached)}) { await at(name); process.stdout.write(name + ' ') }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', `/* ${module} */ ${program}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  return new Promise((resolve) => child.once('close', (code, signal) => resolve(`${said}${signal ?? code}`)))
}

describe('a process is killed at the instant that is named', () => {
  test.each([
    ['release-lock:released', ['a', 'release-lock:released', 'b'], 'a SIGKILL'],
    ['a#2', ['a', 'b', 'a', 'c'], 'a b SIGKILL'],
    ['a#3', ['a', 'a'], 'a a 0'],
    ['', ['a'], 'a 0'],
    ['nothing of that kind', ['a'], 'a 0'],
  ])('%s', async (wanted, reached, said) => expect(await passed(wanted, reached)).toBe(said))
})

test('without a name, nothing happens', async () => {
  await expect(failpoints(undefined)('a')).resolves.toBeUndefined()
})
