import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { watched } from '../../src/core/work.ts'

const late = (): Error => new Error('late')

test('gives the answer, and passes on what is thrown', () => {
  expect(watched(() => 1, { timeoutMs: 60_000, late })).toBe(1)
  const mistake = new TypeError('a mistake')
  expect(() =>
    watched(
      () => {
        throw mistake
      },
      { timeoutMs: 60_000, late },
    ),
  ).toThrow(mistake)
})

test.each([
  ['a pattern without an end', () => /^(a|a)*$/.test(`${'a'.repeat(60)}!`)],
  [
    'a loop without an end that catches all',
    () => {
      for (;;) {
        try {
          JSON.parse('{')
        } catch {
          // goes on
        }
      }
    },
  ],
])('ends %s', (_, work) => {
  expect(() => watched(work, { timeoutMs: 50, late })).toThrow('late')
})

test('a SIGINT ends it at once, and reaches the program', async () => {
  const program = `
    import { watched } from '${new URL('../../src/core/work.ts', import.meta.url).href}'
    process.on('SIGINT', () => { console.log('told'); process.exit(0) })
    process.stdout.write('begun\\n')
    setTimeout(() => {
      try {
        watched(() => { for (;;); }, { timeoutMs: 60_000, late: () => new Error('late') })
      } catch (error) {
        console.log(error.message)
      }
    }, 0)
    setInterval(() => {}, 1000)`
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    stdin: { contents: program, loader: 'ts', resolveDir: import.meta.dirname },
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
    plugins: [
      {
        name: 'file',
        setup: (it) => it.onResolve({ filter: /^file:/ }, ({ path }) => ({ path: new URL(path).pathname })),
      },
    ],
  })
  const child = spawn(process.execPath, ['--input-type=module', '-e', outputFiles[0]!.text], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (data) => (said += String(data)))
  await once(child.stdout, 'data')
  await new Promise((resolve) => setTimeout(resolve, 1000))
  child.kill('SIGINT')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(said).toBe('begun\nlate\ntold\n')
})
