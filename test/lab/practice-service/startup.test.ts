import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../../src/lab/servers/local/ports.ts'
import { deployment, onEnd, spawnService, startService, until } from './support/deployment.ts'
import { buildPrograms } from './support/programs.ts'
import type { Programs } from './support/programs.ts'

let programs: Programs
beforeAll(async () => void (programs = await buildPrograms()))
afterAll(() => programs.remove())

const v3 =
  'fpu cx8 cmov mmx fxsr sse sse2 syscall lm cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2 ' +
  'avx avx2 bmi1 bmi2 f16c fma abm movbe xsave'
const line = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3} +(INFO|WARN|ERROR) \d+ --- \[[ \w#-]{15}\] \S+ +: \S/

async function cpuinfo(flags: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'cpuinfo-'))
  onEnd(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'cpuinfo'), `processor\t: 0\nflags\t\t: ${v3}\n\nprocessor\t: 1\nflags\t\t: ${flags}\n`)
  return join(folder, 'cpuinfo')
}

test.each([
  { image: 'testops', build: '526u03', refused: true },
  { image: 'testops', build: '526u02', refused: false },
  { image: 'testops-legacy', build: '527u01', refused: false },
])('a processor without v3, image $image, build $build', async ({ image, build, refused }) => {
  const file = await cpuinfo(v3.replace('avx2 ', ''))
  const child = await spawnService(
    programs.service,
    { SPRING_DATASOURCE_URL: `jdbc:postgresql://127.0.0.1:${await freePort()}/x` },
    { image, build, cpuinfo: file },
  )
  const { code } = await child.ended
  if (refused) {
    expect(child.output()).toBe('Fatal glibc error: CPU does not support x86-64-v3\n')
    expect(code).toBe(127)
  } else {
    expect(child.output()).toMatch(line)
    expect(code).toBe(1)
  }
})

test('a processor with v3 runs the standard image', async () => {
  const child = await spawnService(
    programs.service,
    { SPRING_DATASOURCE_URL: `jdbc:postgresql://127.0.0.1:${await freePort()}/x` },
    { cpuinfo: await cpuinfo(v3) },
  )
  expect((await child.ended).code).toBe(1)
  expect(child.output()).toContain('HikariPool-1 - Exception during pool initialization.')
})

test('starts, writes Spring Boot lines, and ends with 143 on SIGTERM', async () => {
  const { settings } = await deployment()
  const child = await spawnService(programs.service, { ...settings, TZ: 'Asia/Tokyo' })
  await until('start', () => child.output().includes('Started TestOpsApplication'))
  for (const text of child.output().trimEnd().split('\n')) expect(text).toMatch(line)
  const tokyo = new Date(Date.now() + 9 * 3_600_000).toISOString().slice(0, 13).replace('T', ' ')
  expect(child.output().startsWith(tokyo)).toBe(true)
  child.process.kill('SIGTERM')
  expect(await child.ended).toEqual({ code: 143, signal: null })
  expect(child.output()).toMatch(/HikariPool-1 - Shutdown completed\.\n$/)
  expect(child.output()).not.toMatch(/ WARN | ERROR /)
})

test('logs into LOGGING_FILE_NAME and not on standard output', async () => {
  const { settings } = await deployment()
  const folder = await mkdtemp(join(tmpdir(), 'log-'))
  onEnd(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'testops.log')
  const service = await startService({ ...settings, LOGGING_FILE_NAME: file })
  expect(service.log()).toBe('')
  expect(await readFile(file, 'utf8')).toContain('Tomcat started on port')
})

test('fails as Spring Boot does where PostgreSQL is not there', async () => {
  const port = await freePort()
  const child = await spawnService(programs.service, {
    SPRING_DATASOURCE_URL: `jdbc:postgresql://127.0.0.1:${port}/x`,
    SPRING_DATASOURCE_USERNAME: 'u',
    SPRING_DATASOURCE_PASSWORD: 'hidden',
  })
  expect(await child.ended).toEqual({ code: 1, signal: null })
  const told = child.output()
  expect(told).toContain(
    `org.postgresql.util.PSQLException: Connection to 127.0.0.1:${port} refused. Check that the hostname and ` +
      'port are correct',
  )
  expect(told).toContain('Caused by: java.net.ConnectException: Connection refused')
  expect(told).toContain('o.s.boot.SpringApplication               : Application run failed')
  expect(told).not.toContain('hidden')
})

test('fails where the database does not know the password', async () => {
  const { settings } = await deployment()
  const failed = startService({
    ...settings,
    SPRING_DATASOURCE_USERNAME: 'nobody',
    SPRING_DATASOURCE_PASSWORD: 'wrong',
  })
  await expect(failed).rejects.toThrow(/FATAL: (password authentication failed for user|role) "nobody"/)
})

test('fails where its port is taken', async () => {
  const { settings } = await deployment()
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onEnd(() => new Promise((resolve) => other.close(resolve)))
  const { port } = other.address() as { port: number }
  const child = await spawnService(programs.service, { ...settings, SERVER_PORT: String(port) })
  expect((await child.ended).code).toBe(1)
  expect(child.output()).toContain(
    `APPLICATION FAILED TO START\n***************************\n\nDescription:\n\n` +
      `Web server failed to start. Port ${port} was already in use.`,
  )
})

test.each([
  ['VENDOR_RABBIT_DURABLE', 'perhaps', "Failed to bind properties under 'vendor.rabbit.durable' to boolean"],
  ['VENDOR_REDIS_SESSIONTTL', 'ten', "Failed to bind properties under 'vendor.redis.sessionttl' to java.time.Duration"],
  ['SERVER_PORT', '80x', "Failed to bind properties under 'server.port' to java.lang.Integer"],
  ['SPRING_DATASOURCE_URL', 'postgresql://127.0.0.1/x', 'Driver org.postgresql.Driver claims to not accept jdbcUrl'],
])('fails where %s is %s', async (name, value, said) => {
  const { settings } = await deployment()
  await expect(startService({ ...settings, [name]: value })).rejects.toThrow(said)
})

test('says what is wrong with its machine', async () => {
  await expect(startService({}, { image: 5 })).rejects.toThrow("the practice service's machine file is invalid: image")
})
