import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import { makeFullDiskLibrary } from '../../src/lab/servers/local/disk.ts'
import { faultsOf } from '../output/schemas.ts'
import { sharedLab } from './support/own-lab.ts'

const timeoutMs = 120_000
const program = fileURLToPath(new URL('../../bin/run.js', import.meta.url))
const lab = sharedLab()
const place = (name: string): string => join(dirname(lab.root), name)
const endings = ['md', 'html', 'xml', 'prom', 'json', 'txt'] as const
const text = async (name: string): Promise<string> => readFile(place(name), 'utf8')

describe('doctor writes its report', () => {
  beforeAll(async () => {
    await lab.must('lab', 'break', 'stuck-lock/given-up')
  }, timeoutMs)

  test(
    'in several formats at once, and prints it as ever',
    async () => {
      const { exitCode, stdout, stderr } = await lab.run(
        'doctor',
        '-d',
        'lab',
        ...endings.flatMap((ending) => ['--output', place(`a.${ending}`)]),
      )
      expect([exitCode, stderr]).toEqual([1, ''])
      expect(stdout).toContain('1 problem: database/changelog-lock. Exit code 1.')
      const document = JSON.parse(await text('a.json')) as DoctorReport
      expect([faultsOf('doctor', document), document.rootCauses]).toEqual([[], ['database/changelog-lock']])
      expect(document.timeZone).toBe('UTC')
      expect(await text('a.txt')).toContain('1 problem: database/changelog-lock. Exit code 1.')
      expect(await text('a.md')).toMatch(/^## lab: 1 problem: database\/changelog-lock\.$/m)
      expect(await text('a.md')).toMatch(/^testops-admin unlock-changelog -d lab$/m)
      expect(await text('a.html')).toMatch(/^<!doctype html>\n[^]*<code>database\/changelog-lock<\/code><\/h3>/)
      expect(await text('a.html')).toMatch(/<code id="command-1">testops-admin unlock-changelog -d lab<\/code>/)
      expect(await text('a.xml')).toMatch(
        /<testcase classname="database" name="database\/changelog-lock"[^>]*><failure /,
      )
      expect(await text('a.prom')).toContain('testops_admin_doctor_exit_code{deployment="lab"} 1\n')
      expect(await text('a.prom')).toContain(',check="database/changelog-lock",status="error"} 1\n')
    },
    timeoutMs,
  )

  test(
    'into files that others may read, and that keep their mode and their link when it is written again',
    async () => {
      const usual = 0o666 & ~process.umask()
      await rm(place('a.prom'), { force: true })
      const written = async (...words: string[]): Promise<number | null> =>
        (await lab.run('doctor', '-d', 'lab', ...words)).exitCode
      expect(await written('--output', place('a.prom'))).toBe(1)
      expect((await stat(place('a.prom'))).mode & 0o777).toBe(usual)
      await chmod(place('a.prom'), 0o640)
      await symlink(place('a.prom'), place('link.prom'))
      await writeFile(place('a.prom'), 'old')
      expect(await written('--output', place('link.prom'))).toBe(1)
      expect((await stat(place('a.prom'))).mode & 0o777).toBe(0o640)
      expect(await text('a.prom')).toContain('testops_admin_doctor_exit_code')
    },
    timeoutMs,
  )

  test.each(['markdown', 'html', 'junit', 'prometheus'] as const)(
    'as %s on standard output',
    async (format) => {
      const { exitCode, stdout, stderr } = await lab.run('doctor', '-d', 'lab', '--format', format)
      expect([exitCode, stderr]).toEqual([1, ''])
      expect(stdout).toMatch(
        { markdown: /^## lab: /, html: /^<!doctype html>/, junit: /^<\?xml /, prometheus: /^# HELP / }[format],
      )
    },
    timeoutMs,
  )

  test(
    'from a saved report, too, and the same',
    async () => {
      await lab.must('report', '-d', 'lab', '--output', place('r.tar.gz'))
      const { exitCode } = await lab.run('doctor', '--from', place('r.tar.gz'), '--output', place('saved.md'))
      expect(exitCode).toBe(1)
      await lab.run('doctor', '-d', 'lab', '--output', place('live.md'))
      const causes = (markdown: string): unknown => markdown.match(/^### .*/gm)
      expect(causes(await text('saved.md'))).toEqual(causes(await text('live.md')))
    },
    timeoutMs,
  )

  test(
    'or says what is wrong with the file before it asks the deployment',
    async () => {
      await mkdir(place('folder.md'), { recursive: true })
      for (const [words, code, why] of [
        [
          ['--output', place('a.pdf')],
          64,
          /the ending of the name chooses the format, .* Use \.html, \.json, \.md, \.prom, \.txt, \.xml/,
        ],
        [['--output', place('b.md'), '--output', place('b.md')], 64, /names .*b\.md twice/],
        [['--output', place('folder.md')], 64, /folder\.md is not a file/],
        [['--output', '/dev/full.md/x.md'], 69, /cannot be changed/],
        [['--output', place('none/b.md')], 69, /b\.md cannot be changed: its folder does not exist/],
        [['--output', place('b.md'), '--watch'], 64, /--watch/],
        [['--output', place('b.md'), '--fix'], 64, /--fix/],
        [['--format', 'junit', '--watch'], 64, /--watch and --format junit cannot be combined/],
        [['--format', 'html', '--watch'], 64, /--watch and --format html cannot be combined/],
        [['--format', 'html', '--fix'], 64, /--fix and --format html cannot be combined/],
        [['--format', 'markdown', '--fix'], 64, /--fix and --format markdown cannot be combined/],
        [['--format', 'pdf'], 64, /--format=pdf/],
      ] as const) {
        const { exitCode, stdout, stderr } = await lab.run('doctor', '-d', 'lab', ...words)
        expect([words, exitCode, stdout]).toEqual([words, code, ''])
        expect(stderr.replace(/\s+/g, ' ')).toMatch(why)
      }
    },
    timeoutMs,
  )

  test.each([
    ['doctor', 'full.md', ['doctor', '-d', 'lab', '--output'], 'former', /: the disk is full\b.*df -H /],
    [
      'report',
      'full.tar.gz',
      ['report', '-d', 'lab', '--output'],
      null,
      /cannot write \S+full\.tar\.gz: the disk is full/,
    ],
  ])(
    'and on a full disk, %s says so and leaves what was there',
    async (name, file, words, former, full) => {
      const disk = place(`disk-${name}`)
      await mkdir(disk)
      const made = { library: place(`${name}.so`), folder: disk, fullWhile: place(`${name}-full`) }
      await makeFullDiskLibrary(made, { progress: () => undefined })
      const path = join(disk, file)
      if (former !== null) await writeFile(path, former)
      await writeFile(made.fullWhile, '')
      const environment = {
        ...process.env,
        TESTOPS_ADMIN_LAB_DIR: lab.root,
        XDG_STATE_HOME: join(dirname(lab.root), 'state'),
        LD_PRELOAD: made.library,
      }
      const [exitCode, said] = await new Promise<[unknown, string]>((resolve) => {
        execFile(process.execPath, [program, ...words, path], { env: environment }, (error, _, stderr) =>
          resolve([error?.code, stderr]),
        )
      })
      expect([exitCode, said.replace(/\s+/g, ' ')]).toEqual([69, expect.stringMatching(full)])
      expect(await readdir(disk)).toEqual(former === null ? [] : [file])
      if (former !== null) expect(await readFile(path, 'utf8')).toBe(former)
    },
    timeoutMs,
  )
})
