import { execFileSync, spawn, spawnSync } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { ScanDocument } from '../../src/output/scan/document.ts'
import { faultsOf } from '../output/schemas.ts'
import { freshPlace, program } from './program.ts'
import type { Ended, Place } from './program.ts'

let place: Place
beforeEach(async () => {
  place = await freshPlace()
})
afterEach(async () => place.remove())

const line = (at: string, text: string): string => `2026-11-22 ${at}.000  INFO 1 --- [main] a.B : ${text}\n`
const failed = line('10:00:00', 'HTTP FAILED: x')
const conflict = line('10:00:01', 'Request failed with status code 409')

function documentIn({ stdout }: Ended): ScanDocument {
  const document = JSON.parse(stdout) as ScanDocument
  expect(faultsOf('scan-logs', document)).toEqual([])
  return document
}
/** The program with an open pipe as its standard input. */
function piped(...words: string[]): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [program, ...words], {
    cwd: place.directory,
    env: { PATH: process.env.PATH ?? '', HOME: place.directory, TZ: 'UTC' },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin.on('error', () => undefined)
  return child
}
const counted = ({ matches }: ScanDocument): Record<string, number> =>
  Object.fromEntries(matches.map(({ signature, count }) => [signature, count]))

describe('what is found decides the exit code', () => {
  test.each<[what: string, log: string, words: string[], code: number]>([
    ['nothing', line('10:00:00', 'all is well'), [], 0],
    ['an error', failed + conflict, [], 1],
    ['a warning', conflict, [], 2],
    ['a warning that is forgiven', conflict, ['--fail-on', 'error'], 0],
    ['what is no problem', line('10:00:00', 'Successfully acquired change log lock'), [], 0],
    ['an error, but not of the time that is wanted', failed, ['--since', '2026-11-22T10:30Z'], 0],
    ['dates that are not known where a time is wanted', '22/Nov/2026 nothing\n', ['--since', '2h'], 3],
    ['the same, where that counts as failed', '22/Nov/2026 nothing\n', ['--since', '2h', '--fail-on', 'unknown'], 1],
    ['an empty log', '', [], 3],
  ])('%s', async (_, log, words, code) => {
    const file = await place.write('app.log', log)
    const [json, text] = await Promise.all([
      place.run(['scan-logs', file, '--json', ...words]),
      place.run(['scan-logs', file, ...words]),
    ])
    expect([json.exitCode, json.stderr, text.exitCode, text.stderr]).toEqual([code, '', code, ''])
    documentIn(json)
    expect(text.stdout.replace(/\s+/g, ' ')).toContain(`Exit code ${code}.`)
  })
})

describe('the result is written', () => {
  test('into files of several formats, and printed as ever', async () => {
    const file = await place.write('app.log', failed + conflict)
    const at = (name: string): string => join(place.directory, name)
    const outputs = ['a.html', 'a.json', 'a.txt'].flatMap((name) => ['--output', at(name)])
    const ended = await place.run(['scan-logs', ...outputs, file])
    expect([ended.exitCode, ended.stderr]).toEqual([1, ''])
    expect(ended.stdout).toContain('1 problem: http-failed; 1 warning: conflict. Exit code 1.')
    expect(await readFile(at('a.txt'), 'utf8')).toBe(ended.stdout)
    expect(faultsOf('scan-logs', JSON.parse(await readFile(at('a.json'), 'utf8')))).toEqual([])
    expect(await readFile(at('a.html'), 'utf8')).toMatch(/^<!doctype html>\n[^]*<code>http-failed<\/code><\/h3>/)
  })

  test('never over the log of the deployment, which the configuration names', async () => {
    const file = await place.write('svc.json', failed)
    await place.write(
      'testops-admin.yaml',
      `current: prod\ndeployments:\n  prod:\n    url: http://127.0.0.1:1\n    host:\n      logs: {file: ${file}}\n`,
    )
    const { exitCode, stdout, stderr } = await place.run(['scan-logs', '-d', 'prod', '--output', file])
    expect([exitCode, stdout]).toEqual([64, ''])
    expect(stderr.replace(/\s+/g, ' ')).toContain('which is to be read: name another file')
    expect(await readFile(file, 'utf8')).toBe(failed)
  })

  test('in one format on standard output, without lines while the log is followed', async () => {
    const file = await place.write('app.log', failed)
    const [json, html] = await Promise.all(
      ['json', 'html'].map(async (format) => place.run(['scan-logs', file, '--format', format])),
    )
    expect(counted(documentIn(json!))).toEqual({ 'http-failed': 1 })
    expect(html!.stdout).toMatch(/^<!doctype html>\n[^]*<\/html>\n$/)
    const child = piped('scan-logs', '-', '--follow', '--format', 'html')
    let printed = ''
    child.stdout.on('data', (block: Buffer) => (printed += block.toString()))
    child.stdin.end(failed)
    expect(await once(child, 'close')).toEqual([1, null])
    expect(printed).toMatch(/^<!doctype html>\n[^]*<\/html>\n$/)
  })

  test.each<[string, RegExp]>([
    ['table', /1 problem: http-failed\.\s+Exit code 69\./],
    ['html', /<dd>69<\/dd>|>69</],
    ['json', /^\{[^]*"http-failed"[^]*\}\n$/],
  ])('or %s says what was found, and the exit code is that of the failure', async (format, wanted) => {
    const folder = join(place.directory, 'reports')
    await mkdir(folder)
    const words = ['--follow', '--output', join(folder, 'a.json'), '--format', format]
    const child = piped('scan-logs', '-', ...words)
    let [printed, said] = ['', '']
    child.stderr.on('data', (block: Buffer) => (said += block.toString()))
    child.stdout.on('data', (block: Buffer) => (printed += block.toString()))
    // more than a pipe holds: once it is read, the file has been looked at
    await new Promise((done) => child.stdin.write(failed + 'nothing\n'.repeat(100_000), done))
    await rm(folder, { recursive: true })
    child.stdin.end()
    expect(await once(child, 'close')).toEqual([69, null])
    expect(printed).toMatch(wanted)
    expect(said).toContain('a.json cannot be changed')
    if (format === 'json') expect(faultsOf('scan-logs', JSON.parse(printed))).toEqual([])
  })

  test('but into no log that is read, and no file whose name says no format', async () => {
    const file = await place.write('app.txt', failed)
    await symlink(file, join(place.directory, 'link.txt'))
    for (const [output, why] of [
      [file, /which is to be read/],
      [join(place.directory, 'link.txt'), /which is to be read/],
      [join(place.directory, 'a.pdf'), /chooses none. Use .html, .json, .txt/],
    ] as const) {
      const { exitCode, stdout, stderr } = await place.run(['scan-logs', file, '--output', output])
      expect([exitCode, stdout]).toEqual([64, ''])
      expect(stderr.replace(/\s+/g, ' ')).toMatch(why)
    }
    expect(await readFile(file, 'utf8')).toBe(failed)
  })
})

test('counts are those of grep, whatever is in the file', async () => {
  const log = Buffer.concat([
    Buffer.from(failed.repeat(3)),
    Buffer.from([0, 255, 254, 13, 10]),
    Buffer.from('HTTP FAILED HTTP FAILED\r\nHTTP\nFAILED\nlast HTTP FAILED'),
  ])
  const file = await place.write('app.log', '')
  await appendFile(file, log)
  const grep = Number(execFileSync('grep', ['-a', '-c', '-E', 'HTTP FAILED', file]).toString())
  const ended = await place.run(['scan-logs', file, '--json'])
  expect(counted(documentIn(ended))).toEqual({ 'http-failed': grep })
  expect(documentIn(ended).notes.map(({ kind }) => kind)).toEqual(['binary'])
})

describe('standard input', () => {
  test('is read where - names it, and else not, which is said', async () => {
    const ended = await place.run(['scan-logs', '-', '--json'], { input: failed })
    expect([ended.exitCode, counted(documentIn(ended)), documentIn(ended).files.map(({ name }) => name)]).toEqual([
      1,
      { 'http-failed': 1 },
      ['standard input'],
    ])
    const unread = spawnSync('sh', ['-c', 'echo | "$0" "$@"', process.execPath, program, 'scan-logs'], {
      cwd: place.directory,
      env: { PATH: '/bin:/usr/bin', KUBECONFIG: join(place.directory, 'nowhere'), HOME: place.directory },
      encoding: 'utf8',
    })
    expect(unread.stderr).toMatch(
      /^Standard input is ignored\. To read it, run: testops-admin scan-logs -\nError: no configuration found/,
    )
  })

  test('may be compressed, and empty', async () => {
    const packed = await place.run(['scan-logs', '-', '--json'], { input: gzipSync(failed.repeat(2)) })
    expect(counted(documentIn(packed))).toEqual({ 'http-failed': 2 })
    const empty = await place.run(['scan-logs', '-'], { input: '' })
    expect([empty.exitCode, empty.stdout]).toEqual([3, expect.stringContaining('nothing to read in standard input')])
  })

  test('and files are scanned where the environment names a deployment for other commands', async () => {
    const ended = await place.run(['scan-logs', '-', '--json'], {
      input: failed,
      environment: { TESTOPS_ADMIN_DEPLOYMENT: 'prod' },
    })
    expect([ended.exitCode, counted(documentIn(ended))]).toEqual([1, { 'http-failed': 1 }])
  })

  test('is not taken for one where nothing is configured and nothing is piped in', async () => {
    const { exitCode, stderr } = await place.run(['scan-logs'], {
      environment: { PATH: '/nonexistent', KUBECONFIG: join(place.directory, 'nowhere') },
    })
    expect([exitCode, stderr]).toEqual([64, expect.stringMatching(/^Error: no configuration found/)])
  })
})

describe('what cannot be read', () => {
  test.each<[string, string[], string]>([
    ['a folder', ['logs'], 'logs is a folder. Give the paths of the log files in it'],
    ['what is not there', ['ap.log'], 'there is no file ap.log'],
    ['a time that is none', ['app.log', '--since', 'noon'], '--since: invalid time `noon`'],
    ['times that leave nothing', ['app.log', '--since', '1h', '--until', '2h'], '--since must be before --until'],
    ['a deployment beside files', ['app.log', '-d', 'prod'], 'name files or a deployment, not both'],
    ['a zone that is none', ['app.log', '--time-zone', 'Mars/Base'], '--time-zone: unknown time zone `Mars/Base`'],
  ])('%s is wrong usage', async (_, words, message) => {
    await place.write('app.log', failed)
    await mkdir(join(place.directory, 'logs'))
    const { exitCode, stdout } = await place.run(['scan-logs', ...words, '--json'])
    expect(exitCode).toBe(64)
    const document = JSON.parse(stdout) as { error: { code: string; message: string } }
    expect(faultsOf('error', document)).toEqual([])
    expect(document.error).toMatchObject({ code: 'USAGE', message })
  })

  test('one file of several is told, and hides no other', async () => {
    const good = await place.write('app.log', failed)
    const packed = gzipSync(conflict.repeat(1000) + line('11:00:00', `${Math.random()}`).repeat(50))
    const cut = await place.write('cut.gz', '')
    await appendFile(cut, packed.subarray(0, packed.length - 9))
    const xz = await place.write('old.log.xz', '')
    await appendFile(xz, Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0, 0]))
    const ended = await place.run(['scan-logs', good, cut, xz, '--json'])
    const document = documentIn(ended)
    expect(ended.exitCode).toBe(1)
    expect(counted(document)).toMatchObject({ 'http-failed': 1, conflict: 1000 })
    expect(document.unread.map(({ name, message }) => [name, message.replace(/[\d,]+ bytes/, 'N bytes')])).toEqual([
      [cut, 'the gzip archive is incomplete: only the first N bytes of its contents could be read'],
      [xz, `${xz} is compressed with xz, and testops-admin cannot unpack this format`],
    ])
    const alone = await place.run(['scan-logs', xz])
    expect([alone.exitCode, alone.stdout]).toEqual([
      3,
      expect.stringContaining(`xzcat ${xz} | testops-admin scan-logs -`),
    ])
  })

  test('a file that is for no user, root included', async () => {
    const ended = await place.run(['scan-logs', '/proc/1/mem', '--json'])
    expect([ended.exitCode, documentIn(ended).unread.length]).toEqual([3, 1])
  })
})

describe('what has no end', () => {
  test('Ctrl-C ends it with what was found until then', async () => {
    const child = piped('scan-logs', '-', '--json')
    let stdout = ''
    child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()))
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    // no pipe holds that much: most of it has been read once it was taken
    const block = failed.repeat(1000)
    for (let index = 0; index < 50; index++) if (!child.stdin.write(block)) await once(child.stdin, 'drain')
    child.kill('SIGINT')
    expect(await ended).toBe(6)
    const document = documentIn({ stdout, stderr: '', exitCode: 6, milliseconds: 0 })
    expect(document.notes.map(({ kind }) => kind)).toEqual(['interrupted'])
    expect(counted(document)['http-failed']).toBeGreaterThan(10_000)
  })

  test('a file is followed until Ctrl-C: a line where something has come, then the summary', async () => {
    const file = await place.write('app.log', failed)
    let seen = ''
    const ended = await place.run(['scan-logs', file, '--follow'], {
      meanwhile: (child) => {
        child.stdout?.on('data', (text: string) => {
          const before = seen
          seen += text
          if (before === '')
            void appendFile(file, line('10:05:00', 'java.net.UnknownHostException: tracker.example.org'))
          if (!before.includes('tracker') && seen.includes('tracker')) child.kill('SIGINT')
        })
      },
    })
    expect([ended.exitCode, ended.stderr]).toEqual([1, ''])
    const lines = ended.stdout.split('\n')
    expect(lines[0]).toBe(`2026-11-22 10:00:00Z  error http-failed 1  ${failed.trim()}`)
    expect(lines[1]).toBe('2026-11-22 10:05:00Z  error unknown-host 1  tracker.example.org')
    expect(lines.at(-2)).toMatch(/^Next: /)
  })

  test('who stops reading ends it', async () => {
    const file = await place.write('app.log', failed)
    const ended = await place.run(['scan-logs', file, '--follow'], {
      meanwhile: (child) => {
        child.stdout?.once('data', () => {
          child.stdout?.destroy()
          void appendFile(file, line('10:05:00', 'java.net.UnknownHostException: a.b'))
        })
      },
    })
    expect(ended.stderr).toBe('')
  })
})
