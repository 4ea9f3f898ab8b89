import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RepairDocument } from '../../src/core/repair-document.ts'
import { removeServer, startServer } from '../../src/lab/servers/index.ts'
import type { ServerRecord } from '../../src/lab/servers/index.ts'
import { cached } from '../../src/lab/servers/packages/cache.ts'
import { installFromNpm } from '../../src/lab/servers/packages/npm.ts'
import { freshDatabase } from '../servers/database.ts'
import type { FreshDatabase } from '../servers/database.ts'
import { deploy } from '../repairs/support/deploy.ts'
import type { Deployed } from '../repairs/support/deploy.ts'
import { operator } from '../repairs/support/operator.ts'
import type { Operator } from '../repairs/support/operator.ts'
import { standIn } from '../repairs/support/stand-in.ts'
import type { StandIn } from '../repairs/support/stand-in.ts'

const timeoutMs = 300_000
const version = '4.28.1'

let jars: string
let server: ServerRecord
let database: FreshDatabase
let service: StandIn
let deployed: Deployed
let someone: Operator
let folder: string

beforeAll(async () => {
  const options = { progress: (message: string) => void process.stderr.write(`${message}\n`) }
  const base = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const cache = await cached(join(base, 'testops-admin', 'tests'), `liquibase-${version}`, async (temporary) => installFromNpm(temporary, `liquibase@${version}`, options), options)
  jars = join(cache, 'node_modules/liquibase/dist/liquibase')
  folder = await mkdtemp(join(tmpdir(), 'testops-admin-liquibase-'))
  server = await startServer({ kind: 'postgres', directory: join(folder, 'postgres') }, options)
  database = await freshDatabase(server)
  service = await standIn({ running: false })
  const { user, password } = database.endpoint
  await service.settings(`SPRING_DATASOURCE_URL=jdbc:postgresql://${server.host}:${server.port}/${database.name}\nSPRING_DATASOURCE_USERNAME=${user}\nTZ=UTC\n`)
  deployed = await deploy((secret) => ({
    platform: 'host',
    host: service.host,
    url: service.url,
    database: { url: `postgresql://${server.host}:${server.port}/${database.name}`, user, password: secret(password!.reveal()) },
  }))
  someone = await operator(deployed)
}, timeoutMs)

afterAll(async () => {
  await someone.leave()
  await Promise.all([service.end(), deployed.remove(), database.cleanup()])
  await removeServer(server)
  await rm(folder, { recursive: true, force: true })
}, timeoutMs)

/** A migration that works for so many seconds on one statement, and holds the lock; null: `update` that has ended. */
async function migrating(name: string, seconds: number): Promise<ChildProcess> {
  const file = `${name}.sql`
  await mkdir(join(folder, 'changes'), { recursive: true })
  await writeFile(join(folder, 'changes', file), `--liquibase formatted sql\n--changeset t:${name}\nSELECT pg_sleep(${seconds});\n`)
  const { user, password } = database.endpoint
  const words = [
    '-Duser.timezone=UTC', '-cp', `${jars}/internal/lib/*:${jars}/lib/*`, 'liquibase.integration.commandline.LiquibaseCommandLine',
    `--search-path=${join(folder, 'changes')}`, `--url=jdbc:postgresql://${server.host}:${server.port}/${database.name}`, `--username=${user}`,
    'update', `--changelog-file=${file}`,
  ]
  const child = spawn('java', words, { stdio: ['ignore', 'ignore', 'ignore'], env: { ...process.env, LIQUIBASE_COMMAND_PASSWORD: password!.reveal() } })
  for (const end = Date.now() + 120_000; ; await sleep(100)) {
    const [row] = await database.query("SELECT count(*)::int AS count FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()")
    if (Number(row!['count']) > 0) return child
    if (child.exitCode !== null || Date.now() > end) throw new Error(`liquibase did not come to its statement (${child.exitCode})`)
  }
}

async function killed(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}

async function idle(): Promise<void> {
  for (;;) {
    const [row] = await database.query("SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'PostgreSQL JDBC Driver'")
    if (Number(row!['count']) === 0) return
    await sleep(200)
  }
}

interface Unlocked {
  code: number | null
  outcome: string
  said: string | null
  locked: unknown
}

async function unlocked(): Promise<Unlocked> {
  const ended = await someone.repair(['unlock-changelog', '--patience', '3'])
  const [row] = await database.query('SELECT locked FROM databasechangeloglock WHERE id = 1')
  const { outcome, error } = ended.json<RepairDocument>()
  return { code: ended.code, outcome, said: error?.message ?? null, locked: row!['locked'] }
}

const released: Unlocked = { code: 0, outcome: 'done', said: null, locked: false }
const refused = (said: RegExp): Unlocked => ({ code: 4, outcome: 'refused', said: expect.stringMatching(said) as string, locked: true })
const works = /^the holder lives: database session \d+ \(active for .*SELECT pg_sleep\(60\)\)/

test('a row left by a real Liquibase that was killed is released', async () => {
  await killed(await migrating('killed', 3))
  await idle()
  await service.start()
  expect(await unlocked()).toEqual(released)
}, timeoutMs)

describe('one that is held by a real Liquibase', () => {
  let liquibase: ChildProcess
  beforeAll(async () => void (liquibase = await migrating('working', 60)), timeoutMs)

  test('which works beside a service that is up is refused, and the service is not stopped for it', async () => {
    const calls = await service.calls()
    expect(await unlocked()).toEqual(refused(/another process may be at work on it|^the holder lives: /))
    expect(await service.calls()).toEqual(calls)
  }, timeoutMs)

  test('which works while the service is stopped is refused', async () => {
    await service.stop()
    expect(await unlocked()).toEqual(refused(works))
  }, timeoutMs)

  test('whose JVM is gone while its statement runs on is refused, whether the service runs or not', async () => {
    await killed(liquibase)
    await service.start()
    expect(await unlocked()).toEqual(refused(works))
    await service.stop()
    expect(await unlocked()).toEqual(refused(works))
  }, timeoutMs)

  test('is released once its statement has ended too', async () => {
    await database.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()")
    await idle()
    expect(await unlocked()).toEqual(released)
  }, timeoutMs)
})
