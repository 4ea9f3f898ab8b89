import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const project = fileURLToPath(new URL('../../', import.meta.url))

/** A project of which only the bundling works: it has been built before, and `src/main.ts` is as a test writes it. */
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'testops-admin-build-'))
  for (const name of ['bin', 'src', 'dist']) mkdirSync(join(folder, name))
  for (const name of [
    'build.js',
    'explain-texts.js',
    'licences.js',
    'located-yaml.js',
    'man.js',
    'packed.js',
    'third-party.js',
    'translations.js',
    'wasm.js',
  ])
    cpSync(join(project, 'bin', name), join(folder, 'bin', name))
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  writeFileSync(join(folder, 'dist/main.cjs'), 'built before')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const build = join('bin', 'build.js')
const names = ['bin', 'dist', 'node_modules', 'package.json', 'src']

function expectAsBefore(): void {
  expect(readdirSync(folder).sort()).toEqual(names)
  expect(readFileSync(join(folder, 'dist/main.cjs'), 'utf8')).toBe('built before')
}

test.each([
  ['the program has an error', 'const = 1\n', /Expected identifier/],
  ['the program is built, and another one fails', 'export const main = () => 1\n', /Could not resolve "src\/docs\.ts"/],
])('where %s, nothing half done is left', (_, text, said) => {
  writeFileSync(join(folder, 'src/main.ts'), text)
  const { status, stderr } = spawnSync(process.execPath, [build], { cwd: folder, encoding: 'utf8', timeout: 30_000 })
  expect(status).toBe(1)
  expect(stderr).toMatch(said)
  expectAsBefore()
})

test('where it is interrupted, neither', async () => {
  writeFileSync(join(folder, 'src/main.ts'), 'export const main = () => 1\n')
  // it is held where the first bundle is there already
  const hold = join(folder, 'src/docs.ts')
  spawnSync('mkfifo', [hold])
  const building = spawn(process.execPath, [build], { cwd: folder, stdio: 'ignore' })
  const ended = new Promise<number | null>((resolve) => building.once('exit', resolve))
  await expect
    .poll(() => readdirSync(folder).filter((name) => name.startsWith('dist.next-')), { timeout: 10_000 })
    .toHaveLength(1)
  building.kill('SIGTERM')
  expect(await ended).toBe(143)
  rmSync(hold)
  expectAsBefore()
})
