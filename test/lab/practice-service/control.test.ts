import { execFile, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { identify } from '../../../src/adapters/process-identity.ts'
import { endStragglers, writeStatusScript } from '../../../src/lab/service-control/control.ts'
import { unitIn } from '../../../src/lab/service-control/unit.ts'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { deployment, onEnd, sql, until } from './support/deployment.ts'
import type { Settings } from './support/deployment.ts'
import { buildPrograms } from './support/programs.ts'
import type { Programs } from './support/programs.ts'

let programs: Programs
beforeAll(async () => void (programs = await buildPrograms()))
afterAll(() => programs.remove())

interface Ran {
  code: number
  stdout: string
  stderr: string
}

interface Unit {
  folder: string
  run(verb: string): Promise<Ran>
  /** what `status` prints, by key */
  status(): Promise<Record<string, string>>
  log(): Promise<string>
}

async function unit(settings: Settings, machine: Record<string, unknown> = {}): Promise<Unit> {
  const folder = await mkdtemp(join(tmpdir(), 'unit-'))
  onEnd(() => rm(folder, { recursive: true, force: true }))
  const lines = Object.entries(settings).map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`)
  await writeFile(join(folder, 'service.env'), `# the service's settings\n\n${lines.join('\n')}\n`)
  await writeFile(join(folder, 'machine.json'), JSON.stringify(machine))
  const run = (verb: string): Promise<Ran> =>
    new Promise((resolve) => {
      execFile(process.execPath, [programs.control, verb, folder], (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
      })
    })
  onEnd(() => run('stop'))
  return {
    folder,
    run,
    status: async () =>
      Object.fromEntries(
        (await run('status')).stdout
          .trim()
          .split('\n')
          .map((line) => line.split('=', 2) as [string, string]),
      ),
    log: () => readFile(join(folder, 'service.log'), 'utf8').catch(() => ''),
  }
}

/** What `status` prints, and the script for `-d lab` as well. */
async function shown(service: Unit): Promise<Ran> {
  await writeStatusScript(unitIn(service.folder))
  const own = await service.run('status')
  const byScript = spawnSync('/bin/sh', [join(service.folder, 'status')], { encoding: 'utf8' })
  expect([byScript.status, byScript.stdout, byScript.stderr]).toEqual([own.code, own.stdout, own.stderr])
  return own
}

async function runs(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return text !== '' && !/\) Z /.test(text)
}

/** Processes whose command line names the folder or program: what would be left behind. */
async function left(word: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(word))
}

test('starts, tells its state, and stops', async () => {
  const { settings } = await deployment()
  const port = await freePort()
  const service = await unit({ ...settings, SERVER_PORT: String(port) })
  expect(await shown(service)).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(
      /^ActiveState=inactive\nSubState=dead\nMainPID=0\nExecMainStartTimestamp=\n/,
    ) as string,
  })

  expect(await service.run('start')).toMatchObject({ code: 0, stdout: 'started\n', stderr: '' })
  await until('health', () =>
    fetch(`http://127.0.0.1:${port}/api/management/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  const up = await shown(service)
  expect([up.code, up.stdout.split('\n')[0]]).toEqual([0, 'ActiveState=active'])
  const { MainPID: pid, ExecMainStartTimestamp: startedAt } = await service.status()
  expect(Date.now() - Date.parse(startedAt!)).toBeLessThan(30_000)
  expect((await readFile(join(service.folder, 'service.pid'), 'utf8')).split('\n')[0]).toBe(pid)
  expect((await stat(join(service.folder, 'service.log'))).mode & 0o777).toBe(0o600)

  expect(await service.run('start')).toMatchObject({ code: 0, stdout: 'already running\n' })
  expect((await service.status())['MainPID']).toBe(pid)

  expect(await service.run('stop')).toMatchObject({ code: 0, stdout: 'stopped\n' })
  expect(await runs(Number(pid))).toBe(false)
  expect(await service.status()).toMatchObject({
    ActiveState: 'inactive',
    MainPID: '0',
    ExecMainCode: '1',
    ExecMainStatus: '143',
    Result: 'success',
    ExecMainStartTimestamp: startedAt,
  })
  expect((await shown(service)).code).toBe(3)
  expect(await service.run('stop')).toMatchObject({ code: 0, stdout: 'not running\n' })
  expect(await left(service.folder)).toEqual([])
})

describe('a service that ends by itself', () => {
  test('leaves its exit status', async () => {
    const service = await unit({ SPRING_DATASOURCE_URL: `jdbc:postgresql://127.0.0.1:${await freePort()}/x` })
    expect((await service.run('start')).code).toBe(0)
    await until('the end', async () => (await service.status())['ActiveState'] === 'failed')
    expect(await service.status()).toMatchObject({ ExecMainCode: '1', ExecMainStatus: '1', Result: 'exit-code' })
    expect((await shown(service)).code).toBe(3)
    expect(await service.log()).toContain('Application run failed')
  })

  test('at once, for its processor: the only line of the log', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'cpu-'))
    onEnd(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'cpuinfo'), 'flags\t\t: fpu sse sse2\n')
    const service = await unit({}, { cpuinfo: join(folder, 'cpuinfo') })
    expect((await service.run('start')).code).toBe(0)
    await until('the end', async () => (await service.status())['ActiveState'] === 'failed')
    expect((await service.status())['ExecMainStatus']).toBe('127')
    expect(await service.log()).toBe('Fatal glibc error: CPU does not support x86-64-v3\n')
  })

  test('killed while it holds the lock, it is failed, and can be started again once the lock is free', async () => {
    const on = await deployment()
    const settings = { ...on.settings, SERVER_PORT: String(await freePort()) }
    const first = await unit(settings)
    await first.run('start')
    await until('start', async () => (await first.log()).includes('Started TestOpsApplication'))
    await first.run('stop')
    const service = await unit(settings, { migration: { name: '528u01', statements: 1000, statementMs: 20 } })
    await service.run('start')
    await until('a change set', async () => (await service.log()).includes('changelog-next.yaml'))
    process.kill(Number((await service.status())['MainPID']), 'SIGKILL')
    await until('the end', async () => (await service.status())['ActiveState'] === 'failed')
    expect(await service.status()).toMatchObject({ ExecMainCode: '2', ExecMainStatus: '9', Result: 'signal' })
    await shown(service)
    await until(
      'no session of it',
      async () =>
        (await sql(on, 'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'))
          .length === 0,
    )
    await sql(on, 'UPDATE databasechangeloglock SET locked = false, lockedby = null, lockgranted = null')
    await writeFile(join(service.folder, 'machine.json'), '{}')
    expect(await service.run('start')).toMatchObject({ code: 0, stdout: 'started\n' })
    await until('start', async () => (await service.log()).includes('Started TestOpsApplication'))
  })
})

test('a supervisor that is held up leaves the next run alone', async () => {
  const { settings } = await deployment()
  const service = await unit({ ...settings, SERVER_PORT: String(await freePort()) })
  await service.run('start')
  const { MainPID: first } = await service.status()
  const supervisor = Number(/\) \S (\d+)/.exec(await readFile(`/proc/${first}/stat`, 'utf8'))![1])
  process.kill(supervisor, 'SIGSTOP')
  onEnd(async () => void (await runs(supervisor).then((is) => is && process.kill(supervisor, 'SIGKILL'))))
  process.kill(Number(first), 'SIGKILL')
  expect((await service.run('start')).stdout).toBe('started\n')
  const { MainPID: second } = await service.status()
  process.kill(supervisor, 'SIGCONT')
  await until('the end of the supervisor', async () => !(await runs(supervisor)))
  expect([second === first, await readdir(service.folder).then((all) => all.includes('service.exit'))]).toEqual([
    false,
    false,
  ])
  expect((await service.status())['MainPID']).toBe(second)
})

test('never takes another process for the service', async () => {
  const service = await unit({})
  const bystander = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'])
  onEnd(async () => bystander.kill('SIGKILL'))
  await writeFile(join(service.folder, 'service.pid'), `${bystander.pid}\n1\n2026-11-21T00:00:00.000Z\n`)
  expect((await shown(service)).code).toBe(3)
  expect((await service.run('stop')).stdout).toBe('not running\n')
  expect(await runs(bystander.pid!)).toBe(true)
})

test.each<[string, string | (() => Promise<string>)]>([
  ['service.pid', ''],
  ['service.pid', 'rubbish\n\n\n'],
  ['service.pid', '1\n'],
  ['service.exit', ''],
  ['service.exit', '2026-11-21T00:00:00.000Z 1\n'],
  ['service.exit', 'ActiveState=inactive\nSubState=dead\nMainPID=0\nExecMainStartTimestamp='],
  // of a process that runs, without when it was started
  ['service.pid', async () => `${process.pid}\n${(await identify(process.pid))!.startTime}\n`],
])('shows no more than that it is not running where %s holds %j', async (name, text) => {
  const service = await unit({})
  await writeFile(join(service.folder, name), typeof text === 'string' ? text : await text())
  const { code, stdout } = await shown(service)
  expect([code, stdout.split('\n').slice(0, 4)]).toEqual([
    3,
    ['ActiveState=inactive', 'SubState=dead', 'MainPID=0', 'ExecMainStartTimestamp='],
  ])
})

test('takes over from a start that was killed, and lets one start at a time through', async () => {
  const { settings } = await deployment()
  const service = await unit({ ...settings, SERVER_PORT: String(await freePort()) })
  await writeFile(join(service.folder, 'service.lock'), '1\n1\n')
  const said = await Promise.all([service.run('start'), service.run('start'), service.run('start')])
  expect(said.map(({ stdout }) => stdout).sort()).toEqual(['already running\n', 'already running\n', 'started\n'])
  await until('one service', async () => (await left(programs.service)).length === 1).catch(async (error: unknown) => {
    throw new Error([String(error), ...(await left(programs.service)), await service.log()].join('\n'))
  })
})

test.each(['', '1\n1\n', '{"pid": 1, "startTime": "1"}'])(
  'a lock that a killed start left, %j, keeps nobody waiting',
  async (text) => {
    const service = await unit({})
    await writeFile(join(service.folder, 'service.lock'), text)
    const started = performance.now()
    expect((await service.run('stop')).stdout).toBe('not running\n')
    expect(performance.now() - started).toBeLessThan(5000)
  },
)

test('what a killed start may still bring about is ended once the folder has gone, and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'unit-'))
  const waiting = (marked: string): ChildProcess =>
    spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      stdio: 'ignore',
      env: { TESTOPS_ADMIN_SERVER: marked },
    })
  const [superviser, other] = [waiting(folder), waiting(`${folder}-2`)]
  onEnd(async () => [superviser, other].forEach((child) => child.kill('SIGKILL')))
  await until('both run', async () => (await runs(superviser.pid!)) && (await runs(other.pid!)))
  await rm(folder, { recursive: true })
  await endStragglers(folder)
  expect([await runs(superviser.pid!), await runs(other.pid!)]).toEqual([false, true])
})

test('the service gets the settings of its file, and none of ours', async () => {
  const on = await deployment()
  const service = await unit({ ...on.settings, SERVER_PORT: String(await freePort()), NODE_OPTIONS: '' })
  await service.run('start')
  const { MainPID: pid } = await service.status()
  const environment = (await readFile(`/proc/${pid}/environ`, 'utf8')).split('\0').filter(Boolean)
  const names = environment.map((entry) => entry.slice(0, entry.indexOf('='))).sort()
  expect(names).toEqual(
    [...Object.keys(on.settings), 'LAB_MACHINE_FILE', 'LANG', 'NODE_OPTIONS', 'PATH', 'TESTOPS_ADMIN_SERVER'].sort(),
  )
})

test.each([
  [['start'], 64, "missing argument: the service's folder"],
  [['fly', '.'], 64, 'unknown command: fly'],
  [['start', '/nonexistent'], 64, '/nonexistent is not the folder of a service: /nonexistent/service.env is missing'],
])('%s is refused', async (words, code, said) => {
  const ran = await new Promise<Ran>((resolve) => {
    execFile(process.execPath, [programs.control, ...words], (error, stdout, stderr) =>
      resolve({ code: Number(error?.code), stdout, stderr }),
    )
  })
  expect([ran.code, ran.stdout, ran.stderr.split('\n')[0]]).toEqual([code, '', said])
})
