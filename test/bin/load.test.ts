import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import Module from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const loader = fileURLToPath(new URL('../../bin/load.cjs', import.meta.url))
/** As bin/build.js leaves it. */
const source = Module.wrap(
  `exports.main = () => { const inner = () => 'said by ' + require('node:path').basename(__filename); return inner() }`,
)

let folder: string
let file: string
let caches: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'testops-admin-load-'))
  file = join(folder, 'program.cjs')
  caches = join(folder, 'cache', 'testops-admin', 'compiled')
  writeFileSync(file, source)
})
afterEach(() => {
  chmodSync(folder, 0o700)
  rmSync(folder, { recursive: true, force: true })
})

/** What a process prints that loads the file for `command`, runs it and keeps it. */
function run(command: string, environment: Record<string, string> = {}): string {
  const script =
    `const {main, keep} = require(${JSON.stringify(loader)}).load(${JSON.stringify(file)}, ` +
    `${JSON.stringify(command)}); console.log(main()); keep()`
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    env: { PATH: process.env['PATH'], HOME: folder, XDG_CACHE_HOME: join(folder, 'cache'), ...environment },
    encoding: 'utf8',
    timeout: 10_000,
  })
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' })
  return stdout.trim()
}

const kept = (): string[] => readdirSync(caches)
const only = (): string => join(caches, kept()[0] ?? '')

describe('what V8 made of the program', () => {
  test('is kept for each command, readable by its owner alone, and taken the next time', () => {
    expect([run('doctor'), run('explain')]).toEqual(['said by program.cjs', 'said by program.cjs'])
    expect(kept().map((name) => name.split('-')[0])).toEqual(['doctor', 'explain'])
    expect([statSync(caches).mode & 0o777, statSync(only()).mode & 0o777]).toEqual([0o700, 0o600])
    const { mtimeMs } = statSync(only())
    expect(run('doctor')).toBe('said by program.cjs')
    expect(statSync(only()).mtimeMs).toBe(mtimeMs)
  })

  test('gives way to a changed program of the same length', () => {
    run('doctor')
    const before = kept()
    writeFileSync(file, source.replace('said by', 'told by'))
    expect(run('doctor')).toBe('told by program.cjs')
    expect(kept().length).toBe(1)
    expect(kept()).not.toEqual(before)
  })

  test.each([
    { what: 'empty', spoil: () => Buffer.alloc(0) },
    { what: 'cut off', spoil: (bytes: Buffer) => bytes.subarray(0, bytes.length - 9) },
    {
      what: 'a page of zeros, as after a power cut',
      spoil: (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 64), Buffer.alloc(bytes.length - 64)]),
    },
    {
      what: 'one bit off',
      spoil: (bytes: Buffer) => Buffer.from(bytes.map((byte, index) => (index === 40 ? byte ^ 1 : byte))),
    },
    {
      what: 'of another command',
      spoil: () => readFileSync(join(caches, kept().find((name) => name.startsWith('checks-')) ?? '')),
    },
  ])('is made anew where it is $what', ({ spoil }) => {
    run('checks')
    run('doctor')
    const path = join(caches, kept().find((name) => name.startsWith('doctor-')) ?? '')
    const good = readFileSync(path)
    writeFileSync(path, spoil(good))
    expect(run('doctor')).toBe('said by program.cjs')
    expect(readFileSync(path).length).toBe(good.length)
    expect(run('doctor')).toBe('said by program.cjs')
  })

  test('is not taken where others could have written it', () => {
    run('doctor')
    const path = only()
    chmodSync(path, 0o666)
    run('doctor')
    expect(statSync(only()).mode & 0o777).toBe(0o600)
  })

  test('is not kept where NODE_DISABLE_COMPILE_CACHE says so, nor for what is no name of a command', () => {
    run('doctor', { NODE_DISABLE_COMPILE_CACHE: '1' })
    run('../../doctor')
    run('-x')
    expect(() => kept()).toThrow(/ENOENT/)
  })

  test.each([
    { what: 'a file stands in the way', prepare: (): void => writeFileSync(join(folder, 'cache'), '') },
    {
      what: 'there is no home',
      prepare: (): void => undefined,
      environment: { HOME: '/proc/none', XDG_CACHE_HOME: '' },
    },
    { what: 'a folder has its name', prepare: (): void => occupy() },
  ])('is done without where $what', ({ prepare, environment }) => {
    prepare()
    expect([run('doctor', environment), run('doctor', environment)]).toEqual([
      'said by program.cjs',
      'said by program.cjs',
    ])
  })

  test('is not kept in the home of somebody else, who could not use what root makes there', () => {
    // only root can give a folder away: elsewhere it stays our own, in which the compiled form is kept
    const isRoot = process.getuid?.() === 0
    const owner = isRoot ? 65534 : (process.getuid?.() ?? 0)
    const home = join(folder, 'home')
    mkdirSync(home)
    if (isRoot) chownSync(home, owner, owner)
    expect(run('doctor', { HOME: home, XDG_CACHE_HOME: '' })).toBe('said by program.cjs')
    expect(existsSync(join(home, '.cache'))).toBe(!isRoot)
  })

  test('what a killed process of the same number left does not stand in the way', () => {
    const script =
      `const fs = require('node:fs'); const at = ${JSON.stringify(caches)}; fs.mkdirSync(at, {recursive: true, ` +
      "mode: 0o700}); fs.writeFileSync(at + '/doctor-' + process.version + '-' + process.arch + '-part-' + " +
      "process.pid, 'half'); const {main, keep} = " +
      `require(${JSON.stringify(loader)}).load(${JSON.stringify(file)}, 'doctor'); main(); keep()`
    execFileSync(process.execPath, ['-e', script], {
      env: { HOME: folder, XDG_CACHE_HOME: join(folder, 'cache') },
      timeout: 10_000,
    })
    expect(kept().filter((name) => !name.includes('part')).length).toBe(1)
    expect(kept().length).toBe(1)
  })

  test('several at once leave one whole file', () => {
    const script =
      `const {main, keep} = require(${JSON.stringify(loader)}).load(${JSON.stringify(file)}, 'doctor'); main(); ` +
      'keep()'
    const one = `${JSON.stringify(process.execPath)} -e ${JSON.stringify(script).replaceAll('$', '\\$')}`
    execFileSync('sh', ['-c', `${Array(6).fill(`${one} &`).join(' ')} wait`], {
      env: { PATH: process.env['PATH'], HOME: folder, XDG_CACHE_HOME: join(folder, 'cache') },
      timeout: 20_000,
    })
    expect(kept().filter((name) => !name.includes('part')).length).toBe(1)
    const { mtimeMs } = statSync(join(caches, kept().find((name) => !name.includes('part')) ?? ''))
    expect(run('doctor')).toBe('said by program.cjs')
    expect(statSync(join(caches, kept().find((name) => !name.includes('part')) ?? '')).mtimeMs).toBe(mtimeMs)
  })
})

function occupy(): void {
  run('doctor')
  const path = only()
  rmSync(path)
  mkdirSync(join(path, 'full'), { recursive: true })
}
