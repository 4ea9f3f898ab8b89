import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { maintainer } from '../../bin/package/debian.js'
import packageJson from '../../package.json' with { type: 'json' }
import { decisive } from '../support/campaign.ts'
import { debianFiles, debianProgram } from '../support/debian-program.ts'
import { arch, debianArch, ended, madePackages, packageProgram, packaging } from './made.ts'
import type { Ended } from './made.ts'

const { version } = packageJson
const debian = `testops-admin_${version}_${debianArch}.deb`
const oneFile = `testops-admin-linux-${arch}`

let folder: string
let made: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-packages-'))
  made = await madePackages()
}, 180_000)
afterAll(async () => rm(folder, { recursive: true, force: true }))

const read = async (...path: string[]): Promise<string> => readFile(join(...path), 'utf8')

describe('npm run package', () => {
  test('makes the same bytes a second time, elsewhere and under another umask, and signs their sums', async () => {
    const again = join(folder, 'again')
    const key = join(folder, 'key')
    // trying it makes the key
    const program = await debianProgram({
      name: 'ssh-keygen',
      packageName: 'openssh-client',
      path: 'usr/bin/ssh-keygen',
      megabytes: 10,
      tried: ['-q', '-t', 'ed25519', '-N', '', '-f', key],
    })
    const path = `${dirname(program)}:${process.env['PATH']}`
    const umask = process.umask(0o077)
    try {
      const words = ['--arch', arch, '--output', again, '--key', key]
      expect(await packaging(words, { PATH: path })).toMatchObject({ exitCode: 0 })
    } finally {
      process.umask(umask)
    }
    const names = ['SHA256SUMS', 'THIRD-PARTY-NOTICES.txt', oneFile, debian].sort()
    expect((await readdir(made)).sort()).toEqual(names)
    expect((await readdir(again)).sort()).toEqual([...names, 'SHA256SUMS.sig'].sort())
    const sums = await read(made, 'SHA256SUMS')
    expect(await read(again, 'SHA256SUMS')).toBe(sums)
    for (const line of sums.trimEnd().split('\n')) {
      const [sum, name] = line.split('  ') as [string, string]
      expect(
        createHash('sha256')
          .update(await readFile(join(again, name)))
          .digest('hex'),
      ).toBe(sum)
    }
    expect(sums.trimEnd().split('\n').length).toBe(3)

    // as docs/install.md says
    await writeFile(join(again, 'testops-admin.pub'), `testops-admin ${await read(`${key}.pub`)}`)
    const verify = async (): Promise<Ended> =>
      ended([
        'sh',
        '-c',
        `cd ${again} && ${program} -Y verify -f testops-admin.pub -I testops-admin -n testops-admin ` +
          '-s SHA256SUMS.sig < SHA256SUMS && sha256sum --check --ignore-missing SHA256SUMS',
      ])
    expect(await verify()).toMatchObject({ exitCode: 0 })
    await writeFile(
      join(again, 'SHA256SUMS'),
      sums.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    )
    expect((await verify()).exitCode).not.toBe(0)
  }, 180_000)

  test.each([
    [['--arch', 'mips'], 'unknown architecture mips'],
    [['--arch'], "Option '--arch <value>' argument missing"],
    [['--archs', 'x64'], "Unknown option '--archs'"],
    [['--arch', arch === 'x64' ? 'arm64' : 'x64', '--image'], `--image needs the file of this machine: add --arch`],
  ])('%s is refused in one sentence', async (words, said) => {
    const { exitCode, stderr } = await packaging(['--output', join(folder, 'none'), ...words])
    expect(stderr).toMatch(new RegExp(`^Error: ${said.replaceAll(/[()<>?]/g, '\\$&')}`))
    expect(exitCode).toBe(1)
    await expect(stat(join(folder, 'none'))).rejects.toThrow()
  })

  test('--image without an engine is refused before anything is made', async () => {
    const { exitCode, stderr } = await packaging(['--output', join(folder, 'none'), '--image'], {
      PATH: '/nonexistent',
    })
    expect([exitCode, stderr]).toEqual([
      1,
      'Error: --image needs a running docker, or podman: neither answers `docker info` here\n',
    ])
    await expect(stat(join(folder, 'none'))).rejects.toThrow()
  })

  test('a package that npm fetches with other bytes is not used', async () => {
    const [bin, cache] = [join(folder, 'bin'), join(folder, 'cache')]
    await mkdir(bin)
    const script = '#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\necho evil > "$1/node-linux-$ARCH-$VERSION.tgz"\n'
    await writeFile(join(bin, 'npm'), script, { mode: 0o755 })
    const [, nodeVersion = ''] = /nodeVersion = '([^']+)'/.exec(await read(root, 'bin/package/fetched.js')) ?? []
    const environment = {
      PATH: `${bin}:${process.env['PATH']}`,
      XDG_CACHE_HOME: cache,
      ARCH: arch,
      VERSION: nodeVersion,
    }
    const { exitCode, stderr } = await packaging(['--arch', arch, '--output', join(folder, 'evil')], environment)
    expect([exitCode, stderr.split('\n').at(-2)]).toEqual([
      1,
      `Error: npm fetched another node-linux-${arch}@${nodeVersion} than bin/package/fetched.js names`,
    ])
    expect(await readdir(join(cache, 'testops-admin/packaging'))).toEqual([])
    expect(await readdir(join(folder, 'evil'))).toEqual([])
  })
})

describe('the Debian package', () => {
  let tree: string
  beforeAll(() => {
    tree = join(folder, 'tree')
    execFileSync('dpkg-deb', ['--raw-extract', join(made, debian), tree])
  })

  test('says what it needs, and every file in it has a sum and belongs to root', async () => {
    const control = await read(tree, 'DEBIAN/control')
    expect(control).toMatch(
      new RegExp(
        `^Package: testops-admin\nVersion: ${version}\nArchitecture: ${debianArch}\n[^]*` +
          '\nDepends: libc6 \\(>= 2\\.28\\), libstdc\\+\\+6 \\(>= 5\\.1\\)\n[^]*\n$',
      ),
    )
    const lines = execFileSync('dpkg-deb', ['--contents', join(made, debian)], {
      encoding: 'utf8',
      env: { ...process.env, TZ: 'UTC' },
    })
      .trimEnd()
      .split('\n')
    expect(
      lines.filter((line) => !/^(-rwxr-xr-x|-rw-r--r--|drwxr-xr-x) root\/root +\d+ 2026-09-21 /.test(line)),
    ).toEqual([])
    const checked = execFileSync('md5sum', ['--check', 'DEBIAN/md5sums'], { cwd: tree, encoding: 'utf8' })
    expect(checked.trimEnd().split('\n').length).toBe(lines.filter((line) => line.startsWith('-')).length)
  })

  test('names the author as its maintainer, or an address that nobody can have', async () => {
    expect(await read(tree, 'DEBIAN/control')).toContain(
      `\nMaintainer: ${maintainer((packageJson as { author?: string }).author)}\n`,
    )
    expect(maintainer(undefined)).toMatch(/ <\S+@\S+\.invalid>$/)
    expect(maintainer('A. Uthor <a@example.org>')).toBe('A. Uthor <a@example.org>')
    for (const wrong of ['A. Uthor', 'A. Uthor <>', 'A <a@example.org>\nDepends: x', { name: 'A. Uthor' }])
      expect(() => maintainer(wrong)).toThrow('the author in package.json must be "NAME <ADDRESS>"')
  })

  test('has the program, its manual, what shells complete with, and its licences', async () => {
    const inside = await readFile(join(tree, 'usr/bin/testops-admin'))
    expect(inside.equals(await readFile(join(made, oneFile)))).toBe(true)
    const pages = await readdir(join(tree, 'usr/share/man/man1'))
    expect(pages.length).toBe((await readdir(join(root, 'dist/man'))).length)
    const page = execFileSync('gzip', ['-dc', join(tree, 'usr/share/man/man1/testops-admin.1.gz')], {
      encoding: 'utf8',
    })
    expect(page).toBe(await read(root, 'dist/man/testops-admin.1'))
    for (const [shell, path] of [
      ['bash', 'bash-completion/completions/testops-admin'],
      ['zsh', 'zsh/vendor-completions/_testops-admin'],
      ['fish', 'fish/vendor_completions.d/testops-admin.fish'],
    ] as const)
      expect(await read(tree, 'usr/share', path)).toBe((await ended([...packageProgram, 'completion', shell])).stdout)
    const copyright = await read(tree, 'usr/share/doc/testops-admin/copyright')
    for (const text of [await read(root, 'LICENSE'), await read(root, 'dist/THIRD-PARTY-NOTICES.txt')])
      expect(copyright).toContain(text.trimEnd())
    expect(copyright).toContain('Node.js is licensed for use as follows:')
    expect(await read(tree, 'usr/share/testops-admin/templates/testops-admin.yaml')).toBe(
      await read(root, 'templates/testops-admin.yaml'),
    )
  })
})

test('the file for arm64 runs under an emulator, and does what the package does', async () => {
  const output = join(folder, 'arm64')
  const { exitCode, stderr } = await packaging(['--arch', 'arm64', '--no-deb', '--output', output])
  expect([exitCode, stderr]).toEqual([0, expect.any(String)])
  const program = join(output, 'testops-admin-linux-arm64')
  const start: readonly [string, ...string[]] =
    arch === 'arm64'
      ? [program]
      : [
          join(await debianFiles('qemu-user-static'), 'usr/bin/qemu-aarch64-static'),
          '-L',
          await debianFiles('libstdc++6', 'arm64'),
          program,
        ]
  const log = join(folder, 'small.log')
  await writeFile(
    log,
    '2026-11-21 02:13:19.148  INFO 4711 --- [main] liquibase.lockservice : Waiting for changelog lock....\n',
  )
  const config = join(folder, 'testops-admin.yaml')
  await writeFile(config, 'deployments:\n  prod: {database: {url: "postgresql://t@127.0.0.1:1/t"}}\n')
  const env = { PATH: process.env['PATH'], HOME: folder, NODE_OPTIONS: undefined }
  expect((await ended([...start, '--version'], { env })).stdout).toMatch(
    /^testops-admin\/\S+ linux-arm64 node-v22\.\S+\n$/,
  )
  const commands = [
    ['scan-logs', log, '--json'],
    ['explain', 'stuck-lock', '--json'],
    // what a processor is good for is another matter
    ['doctor', '--config', config, '--only', 'database', '--json'],
  ]
  // the emulator takes seconds for each
  for (const words of decisive(commands, 1)) {
    const steady = (it: Ended): Ended => ({
      ...it,
      stdout: it.stdout
        .replaceAll(/"(startedAt|durationMs)": ("[^"]*"|[\d.]+)/g, '"$1": 0')
        .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"'),
    })
    const [here, there] = [
      await ended([...start, ...words], { env }),
      await ended([...packageProgram, ...words], { env }),
    ]
    expect(steady(here)).toEqual(steady(there))
  }
}, 300_000)

const root = fileURLToPath(new URL('../../', import.meta.url))
