import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Metafile } from 'esbuild'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

test('src has at most 750 files', () => {
  const { length } = filesIn('src')
  expect(length).toBeGreaterThan(500)
  expect(length).toBeLessThanOrEqual(750)
})

test('no line of code is longer than 120 characters', () => {
  const long = ['src', 'test', 'bin', 'bench']
    .flatMap(filesIn)
    .filter((file) => /\.(?:ts|js|cjs|as)$/.test(file))
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .flatMap((line, at) => ([...line].length > 120 ? [`${file.slice(root.length)}:${at + 1}`] : [])),
    )
  expect(long).toEqual([])
})

test('.gitignore leaves out no sources: the checks of types and style pass over what it names', () => {
  const ignored = readFileSync(join(root, '.gitignore'), 'utf8').split('\n')
  const inEveryFolder = ignored.filter((line) => line.endsWith('/') && !line.startsWith('/'))
  expect(ignored).toContain('/packages/')
  expect(inEveryFolder).toEqual([])
})

test('no text of the program holds a time as ISO writes it: `moment` writes those for people', () => {
  // an attribute of a page, and a flag that is typed again, are for programs
  const meant = /datetime="|command`--backup-taken /
  const raw = filesIn('src').flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        /\$\{[^}`]*\.toISOString\(\)\}/.test(line) && !meant.test(line) ? [`${file.slice(root.length)}:${at + 1}`] : [],
      ),
  )
  expect(raw).toEqual([])
})

test('only test files register hooks as they are loaded', () => {
  // a module is loaded once for all files of a process: the second file that imports it would have no such hook
  const hook = /^(?:before|after)(?:All|Each)\(/m
  const own = filesIn('test').filter((file) => file.endsWith('.ts') && hook.test(readFileSync(file, 'utf8')))
  expect(own.length).toBeGreaterThan(20)
  expect(own.filter((file) => !file.endsWith('.test.ts')).map((file) => file.slice(root.length))).toEqual([])
})

const timeoutMs = 60_000

/** Returns the imports of every file of the program, without those of types alone. */
async function imports(): Promise<Metafile['inputs']> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/main.ts'],
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    outdir: 'not-written',
    write: false,
    metafile: true,
    // made from other languages at build
    external: ['*.as', '*.yaml'],
  })
  return metafile.inputs
}

test(
  'doctor on Kubernetes loads at most 270 files before it has read anything',
  async () => {
    const inputs = await imports()
    const reached = new Set<string>()
    const reach = (file: string): void => {
      const input = inputs[file]
      if (!input || reached.has(file)) return
      reached.add(file)
      // what is imported on demand comes later
      for (const { path, kind } of input.imports) if (kind === 'import-statement') reach(path)
    }
    for (const file of ['main.ts', 'commands/doctor.ts', 'runtime/index.ts', 'platforms/kubernetes/index.ts'])
      reach(`src/${file}`)
    expect(reached.size).toBeGreaterThan(200)
    expect(reached.size).toBeLessThanOrEqual(270)
  },
  timeoutMs,
)

test(
  'only the command mcp loads the SDK of MCP, and only when it runs',
  async () => {
    const all = Object.entries(await imports()).flatMap(([file, input]) =>
      input.imports.map(({ path, kind }) => ({ file, path, kind })),
    )
    const importersOf = (isMeant: (path: string) => boolean): string[][] =>
      all.filter(({ path }) => isMeant(path)).map(({ file, kind }) => [file, kind])
    expect(new Set(importersOf((path) => path.startsWith('@modelcontextprotocol/')).map(([file]) => file))).toEqual(
      new Set(['src/cli/mcp/sdk.ts']),
    )
    expect(importersOf((path) => path === 'src/cli/mcp/sdk.ts')).toEqual([['src/cli/mcp/serve.ts', 'import-statement']])
    expect(importersOf((path) => path === 'src/cli/mcp/serve.ts')).toEqual([['src/commands/mcp.ts', 'dynamic-import']])
    expect(importersOf((path) => path === 'src/commands/mcp.ts')).toEqual([['src/commands/index.ts', 'dynamic-import']])
  },
  timeoutMs,
)
