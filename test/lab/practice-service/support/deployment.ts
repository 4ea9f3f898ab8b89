import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { practiceMachine } from '../../../../src/lab/practice-service/machine.ts'
import { startPracticeService } from '../../../../src/lab/practice-service/service.ts'
import type { PracticeService } from '../../../../src/lab/practice-service/service.ts'
import { freshDatabase, freshRedisDatabase, freshVhost } from '../../../servers/index.ts'
import type { FreshDatabase, FreshRedisDatabase, FreshVhost } from '../../../servers/index.ts'

export type Settings = Record<string, string>

/** Servers of one test, and the service's settings for them. Poll and retry times are short. */
export interface Deployment {
  settings: Settings
  database: FreshDatabase
  vhost: FreshVhost
  redis: FreshRedisDatabase
}

/** Runs when the test ends, last registered first. */
export function onEnd(cleanup: () => Promise<unknown>): void {
  onTestFinished(async () => void (await cleanup()))
}

export async function deployment(line: '3' | '4.3' = '3'): Promise<Deployment> {
  const [database, vhost, redis] = await Promise.all([freshDatabase(), freshVhost(line), freshRedisDatabase()])
  for (const part of [database, vhost, redis]) onEnd(() => part.cleanup())
  const [main] = database.endpoint.hosts as [{ host: string; port: number }]
  const settings = {
    SPRING_DATASOURCE_URL: `jdbc:postgresql://${main.host}:${main.port}/${database.name}`,
    SPRING_DATASOURCE_USERNAME: database.endpoint.user ?? '',
    SPRING_DATASOURCE_PASSWORD: database.endpoint.password?.reveal() ?? '',
    SPRING_DATASOURCE_HIKARI_CONNECTION_TIMEOUT: '1000',
    SPRING_RABBITMQ_ADDRESSES: `amqp://${vhost.endpoint.host}:${vhost.endpoint.port}`,
    SPRING_RABBITMQ_VIRTUAL_HOST: vhost.vhost,
    SPRING_RABBITMQ_USERNAME: vhost.endpoint.user,
    SPRING_RABBITMQ_PASSWORD: vhost.endpoint.password?.reveal() ?? '',
    SPRING_DATA_REDIS_HOST: redis.endpoint.host,
    SPRING_DATA_REDIS_PORT: String(redis.endpoint.port),
    SPRING_DATA_REDIS_DATABASE: String(redis.database),
    ...(redis.endpoint.password ? { SPRING_DATA_REDIS_PASSWORD: redis.endpoint.password.reveal() } : {}),
    VENDOR_RABBIT_DURABLE: 'true',
    LIQUIBASE_CHANGELOGLOCK_WAIT_TIME_IN_MINUTES: '0.01',
    LIQUIBASE_CHANGELOGLOCK_POLL_RATE: '0.2',
    TZ: 'UTC',
    SERVER_PORT: '0',
  }
  return { settings, database, vhost, redis }
}

export interface Started extends PracticeService {
  url: string
  log: () => string
}

/** The service inside the test's process, stopped when the test ends. */
export async function startService(
  settings: Settings,
  machine: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<Started> {
  let log = ''
  const write = (text: string): void => void (log += text)
  const service = await startPracticeService(settings, practiceMachine({ brokerRetryMs: 200, ...machine }), {
    write,
    ...(signal ? { signal } : {}),
  })
  onEnd(() => service.stop())
  return { ...service, url: `http://127.0.0.1:${service.port}`, log: () => log }
}

export interface Child {
  process: ChildProcess
  output: () => string
  ended: Promise<{ code: number | null; signal: string | null }>
}

/** The service as a process of its own, killed when the test ends. */
export async function spawnService(
  program: string,
  settings: Settings,
  machine: Record<string, unknown> = {},
): Promise<Child> {
  const folder = await mkdtemp(join(tmpdir(), 'practice-'))
  onEnd(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'machine.json')
  await writeFile(file, JSON.stringify({ brokerRetryMs: 200, ...machine }))
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env['PATH'], ...settings, LAB_MACHINE_FILE: file },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  )
  onEnd(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { process: child, output: () => output, ended }
}

/** Statements on the deployment's database, as its superuser. */
export async function sql<Row extends object>(
  { database }: Pick<Deployment, 'database'>,
  text: string,
): Promise<Row[]> {
  return (await database.query(text)) as Row[]
}

/** Waits until `probe` gives something; fails with what was waited for. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  ms = 15_000,
): Promise<T> {
  for (const end = Date.now() + ms; ; await sleep(25)) {
    const found = await probe()
    if (found) return found
    if (Date.now() > end) throw new Error(`waited ${ms} ms in vain for: ${what}`)
  }
}
