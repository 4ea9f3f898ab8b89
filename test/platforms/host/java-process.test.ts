import { spawn } from 'node:child_process'
import type { ChildProcess, StdioOptions } from 'node:child_process'
import { openSync } from 'node:fs'
import { chmod, mkdir, readFile, readlink, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { findJavaProcesses, initScript } from '../../../src/platforms/host/finder.ts'
import type { JavaProcess } from '../../../src/platforms/host/finder.ts'
import { folderWith } from '../../runtime/folder.ts'

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

interface Begun {
  env?: Readonly<Record<string, string>>
  cwd?: string
  stdio?: StdioOptions
}

/** A process that is called as Java is. */
async function java({ env = {}, cwd = '/', stdio = 'ignore' }: Begun): Promise<number> {
  const child = spawn('sleep', ['60'], { argv0: 'java', env: { PATH: process.env.PATH ?? '', ...env }, cwd, stdio })
  children.push(child)
  await new Promise((resolve) => child.once('spawn', resolve))
  // the kernel closes what tells that it runs a moment before it shows the environment
  await vi.waitUntil(async () => (await readFile(`/proc/${child.pid}/environ`, 'utf8')) !== '', { timeout: 10_000 })
  return child.pid!
}

/** What the kernel shows of a process, with another command line, since no other program takes the options of Java. */
async function proc(
  pid: number,
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const root = await folderWith({
    'self/cgroup': '0::/\n',
    [`${pid}/cmdline`]: ['java', ...words, ''].join('\0'),
    ...Object.fromEntries(Object.entries(more).map(([name, text]) => [`${pid}/${name}`, text])),
  })
  const at = (name: string): string => join(root, String(pid), name)
  for (const name of ['environ', 'status', 'cgroup'])
    if (!(name in more)) await symlink(`/proc/${pid}/${name}`, at(name))
  await mkdir(at('fd'))
  for (const name of ['cwd', 'fd/1'])
    await readlink(`/proc/${pid}/${name}`).then(
      async (target) => symlink(target, at(name)),
      () => undefined,
    )
  return root
}

async function seen(
  words: readonly string[],
  begun: Partial<Begun> = {},
  more: Readonly<Record<string, string>> = {},
): Promise<JavaProcess | undefined> {
  const pid = await java(begun)
  return (await findJavaProcesses(await proc(pid, words, more))).find((it) => it.pid === pid)
}

const sign = { ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: '3600' }

test.each<[string, string[], Record<string, string>, string | undefined]>([
  ['its jar', ['-Xmx1g', '-jar', '/opt/testops/testops.jar', '--x'], {}, '/opt/testops/testops.jar'],
  [
    'its jar behind options with values',
    ['-cp', 'a.jar', '--add-opens', 'java.base/java.lang=ALL-UNNAMED', '-jar', 'testops-legacy.jar'],
    {},
    'testops-legacy.jar',
  ],
  ['its main class', ['-cp', '/opt/lib/*', 'org.example.testops.Main', 'run'], {}, 'org.example.testops.Main'],
  ['its settings', ['-jar', 'app.jar'], sign, 'app.jar'],
  [
    "where Spring Boot's launcher finds it",
    ['-cp', '/opt/testops/app.jar', 'org.springframework.boot.loader.launch.JarLauncher', '--x'],
    {},
    '/opt/testops/app.jar',
  ],
  [
    'another program of that launcher',
    ['-cp', '/opt/jenkins', 'org.springframework.boot.loader.PropertiesLauncher', '--name=testops'],
    {},
    undefined,
  ],
  [
    'a Liquibase with its drivers',
    ['-cp', '/opt/testops/lib/*', 'liquibase.integration.commandline.LiquibaseCommandLine'],
    {},
    undefined,
  ],
  ['a file of arguments that is gone', ['@/opt/testops/java.args'], {}, '@/opt/testops/java.args'],
  ['the jar of another program', ['-jar', 'jenkins.war', 'testops.jar'], {}, undefined],
  [
    'a run of tests that reports to it',
    ['-jar', 'surefire.jar'],
    { ALLURE_ENDPOINT: 'https://testops.example.org', ALLURE_TOKEN: 'x' },
    undefined,
  ],
  [
    'another program with a logger of Spring',
    ['-jar', 'app.jar'],
    { LOGGING_LEVEL_ORG_SPRINGFRAMEWORK_INTEGRATION: 'debug' },
    undefined,
  ],
  ['this program', ['-jar', 'testops-admin.jar'], {}, undefined],
  ['no program at all', ['-version'], {}, undefined],
])('%s', async (_, words, env, program) => {
  expect((await seen(words, { env }))?.program).toBe(program)
})

test.each<[string, string, string | undefined]>([
  [
    'a jar',
    '-Duser.timezone="Asia/Tokyo"\n# the service\n-jar "/opt/my testops/testops.jar"\n',
    '/opt/my testops/testops.jar',
  ],
  ['options alone', '-Duser.timezone=Asia/Tokyo -Xmx1g', 'testops.jar'],
  ['another program', '-jar jenkins.war', undefined],
  ['itself', '@java.args', undefined],
  ['nothing', '', 'testops.jar'],
  ['rubbish', `"\0'"' @@ -jar`, undefined],
])('a file of arguments, from the folder of the process, with %s', async (_, text, program) => {
  const cwd = await folderWith({ 'java.args': text })
  const found = await seen(['@java.args', '-jar', 'testops.jar'], { cwd })
  expect(found?.program).toBe(program)
  if (found && text.includes('Tokyo')) expect(found.timeZone).toBe('Asia/Tokyo')
})

test('its user, folder, settings, log and time zone are taken from it', async () => {
  const folder = await folderWith({ 'logs/x': '' })
  const found = await seen(['-Duser.timezone=Asia/Tokyo', '-jar', 'testops.jar'], {
    cwd: folder,
    env: { ...sign, LOGGING_FILE_NAME: 'logs/testops.log' },
  })
  expect(found).toMatchObject({ folder, logFile: join(folder, 'logs/testops.log'), timeZone: 'Asia/Tokyo' })
  expect(found?.environment?.get('ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS')).toBe('3600')
  expect((await seen(['-jar', 'testops.jar', '--logging.file.name=/var/log/t.log']))?.logFile).toBe('/var/log/t.log')
})

test('without a setting the log is the file that standard output goes to, and no device', async () => {
  const folder = await folderWith({})
  const file = join(folder, 'out.log')
  expect((await seen(['-jar', 'testops.jar'], { stdio: ['ignore', openSync(file, 'w'), 'ignore'] }))?.logFile).toBe(
    file,
  )
  expect((await seen(['-jar', 'testops.jar']))?.logFile).toBe(null)
})

const id = 'a'.repeat(64)
test.each<[string, Record<string, string>, boolean]>([
  ['a namespace of processes of its own', { status: 'Uid:\t0\t0\nNSpid:\t812\t1\n' }, false],
  ['a container of Docker', { cgroup: `0::/system.slice/docker-${id}.scope\n` }, false],
  ['one beside this one', { cgroup: `0::/../${id}\n` }, false],
  ['a pod', { cgroup: '4:memory:/kubepods/besteffort/pod1\n' }, false],
  ['a session of a user', { cgroup: '0::/user.slice/user-1000.slice/session-3.scope\n' }, true],
  ['a daemon of init', { status: 'Uid:\t0\t0\nNSpid:\t812\n', cgroup: '0::/\n' }, true],
])('%s', async (_, more, isFound) => {
  expect((await seen(['-jar', 'testops.jar'], {}, more)) !== undefined).toBe(isFound)
})

test('a command line of 1 MB, one that is cut short, and one that has ended do no harm', async () => {
  expect((await seen(['-jar', 'testops.jar', 'x'.repeat(1_000_000)]))?.program).toBe('testops.jar')
  const root = await proc(99_999_999, ['-jar'])
  expect(await findJavaProcesses(root)).toEqual([])
  expect(await findJavaProcesses('/no/such/folder')).toEqual([])
})

test("init's script of the service, where it may be run", async () => {
  const folder = await folderWith({ testops: '#!/bin/sh\n' })
  expect(await initScript(folder)).toBe(join(folder, 'testops'))
  await chmod(join(folder, 'testops'), 0o644)
  expect(await initScript(folder)).toBe(null)
})
