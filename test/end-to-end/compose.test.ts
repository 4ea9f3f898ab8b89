import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RepairDocument } from '../../src/core/repair.ts'
import type { DoctorReport } from '../../src/core/check.ts'
import { seedUsers } from '../../src/lab/practice-service/data/seeds.ts'
import { signInAt } from '../../src/lab/access/sessions.ts'
import { composeProject } from './compose-world.ts'
import type { ComposeProject } from './compose-world.ts'
import { freshPlace } from './program.ts'
import type { Ended, Place } from './program.ts'

let project: ComposeProject
let place: Place
beforeEach(async () => void (place = await freshPlace()))
afterEach(async () => {
  await project.close()
  await place.remove()
})

/** The project, with its service started by the program itself. */
async function up(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  project = await composeProject(settings)
  expect((await run('service', 'start', '--confirm', 'testops')).exitCode).toBe(0)
}

async function run(...words: string[]): Promise<Ended> {
  return runAs({}, ...words)
}

async function runAs(environment: Record<string, string>, ...words: string[]): Promise<Ended> {
  return place.run(words, { environment: { PATH: join(project.world.folder, 'bin'), ...environment } })
}

async function repair(...words: string[]): Promise<RepairDocument> {
  const { stdout, stderr } = await run(...words, '--confirm', 'testops', '--json')
  const document = JSON.parse(stdout) as RepairDocument
  expect([document.outcome, document.error, stderr.includes('127.0.0.1')]).toEqual(['done', undefined, false])
  return document
}

/** The processor is that of the machine on which the tests run, and may lack what the image needs. */
const ofThisMachine = 'service/cpu-level'

async function doctor(): Promise<{ exitCode: number | null; report: DoctorReport }> {
  const { stdout, exitCode } = await run('doctor', '--json')
  const report = JSON.parse(stdout) as DoctorReport
  return { exitCode, report: { ...report, rootCauses: report.rootCauses.filter((id) => id !== ofThisMachine) } }
}

const fileOf = async (name: string): Promise<string> => readFile(join(project.world.folder, 'project', name), 'utf8')
const changing = (): string[] =>
  project.world.asked
    .map((it) => it.split(' '))
    .filter(([word]) => word === 'stop' || word === 'start')
    .map(([word]) => word!)
const lock =
  "UPDATE databasechangeloglock SET locked = true, lockedby = '1a79b513f312 (172.26.0.10)', lockgranted = now() " +
  "- interval '1 day' WHERE id = 1"
const isLocked = async (): Promise<unknown> =>
  project.database.query('SELECT locked FROM databasechangeloglock WHERE id = 1')

test('doctor finds the project, reaches its servers, and changes nothing', async () => {
  await up()
  const before = changing()
  const { report } = await doctor()
  expect(report.found).toBe(
    'compose project `testops` (service testops, image registry.example.org/qameta/testops:527u01)',
  )
  expect(
    report.checks
      .filter(({ id, status }) => status === 'problem' && id !== ofThisMachine)
      .map(({ id, findings }) => [id, findings]),
  ).toEqual([])
  for (const id of [
    'database/reachable',
    'broker/reachable',
    'sessions/reachable',
    'api/reachable',
    'service/running',
  ]) {
    expect([id, report.checks.find((it) => it.id === id)?.status]).toEqual([id, 'ok'])
  }
  expect(changing()).toEqual(before)
})

test('a stuck lock is released while the container is stopped; killed in the middle, it is gone on with', async () => {
  await up()
  await project.database.query(lock)
  expect((await doctor()).report.rootCauses).toEqual(['database/changelog-lock'])
  const killed = await runAs(
    { TESTOPS_ADMIN_FAILPOINT: 'release-lock:judged' },
    'unlock-changelog',
    '--confirm',
    'testops',
  )
  expect([killed.exitCode, changing().at(-1)]).toEqual([null, 'stop'])
  const { exitCode, report } = await doctor()
  expect([exitCode, report.rootCauses]).toEqual([1, ['service/unfinished-repair']])
  const document = await repair('resume')
  expect(document.plan?.steps.map(({ action }) => action.kind)).toEqual([
    'stop-service',
    'release-lock',
    'start-service',
  ])
  expect(document.plan?.target).toEqual({
    database: expect.stringMatching(/^testops-db:\d+\/test_\w+, PostgreSQL /) as string,
  })
  expect([await isLocked(), (await doctor()).report.rootCauses]).toEqual([[{ locked: false }], []])
})

test('what was begun on one engine is not gone on with on another that has a project of that name', async () => {
  await up()
  await project.database.query(lock)
  await runAs(
    { TESTOPS_ADMIN_FAILPOINT: 'release-lock:judged', DOCKER_CONTEXT: 'staging' },
    'unlock-changelog',
    '--confirm',
    'testops',
  )
  expect(changing().at(-1)).toBe('stop')
  const before = changing()
  const [id] = /\S+-unlock-changelog-\w+/.exec((await run('resume')).stderr) ?? []
  const elsewhere = await run('resume', '--adopt', id!, '--confirm', 'testops')
  expect([elsewhere.exitCode, changing(), await isLocked()]).toEqual([4, before, [{ locked: true }]])
  expect(elsewhere.stderr).toContain('docker context use NAME')
  const there = await runAs({ DOCKER_CONTEXT: 'staging' }, 'resume', '--confirm', 'testops', '--json')
  const document = JSON.parse(there.stdout) as RepairDocument
  expect([document.outcome, document.plan?.target['cluster']]).toEqual(['done', 'engine of the context staging'])
})

test('queues are made durable, and the compose file asks for them', async () => {
  await up({ VENDOR_RABBIT_DURABLE: 'false' })
  const queues = async (): Promise<{ name: string; durable: boolean }[]> =>
    (await project.vhost.manage('GET', `/api/queues/${project.vhost.vhost}`)) as { name: string; durable: boolean }[]
  await expect.poll(async () => (await queues()).length, { timeout: 20_000 }).toBeGreaterThan(0)
  const before = await queues()
  expect(before.some(({ durable }) => !durable)).toBe(true)
  const file = await fileOf('docker-compose.yml')
  const { verification } = await repair('reset-queues')
  expect(verification).toEqual({ 'broker/queues-durable': 'ok', 'service/running': 'ok', 'api/reachable': 'ok' })
  expect((await queues()).filter(({ durable }) => !durable)).toEqual([])
  expect((await queues()).map(({ name }) => name).sort()).toEqual(before.map(({ name }) => name).sort())
  expect(await fileOf('docker-compose.yml')).toBe(
    file.replace('VENDOR_RABBIT_DURABLE: "false"', 'VENDOR_RABBIT_DURABLE: "true"'),
  )
})

test('sessions that a wrong clock wrote are removed, and no others', async () => {
  project = await composeProject()
  project.clock.aheadMs = 3 * 3_600_000
  await repair('service', 'start')
  await signInAt(project.url, seedUsers[0]!)
  project.clock.aheadMs = 0
  await repair('service', 'restart')
  await signInAt(project.url, seedUsers[0]!)
  expect((await doctor()).report.rootCauses).toEqual(['sessions/clock'])
  await repair('flush-sessions', '--stale')
  expect(await project.redis.client.keys('spring:session:sessions:*')).toHaveLength(1)
  expect((await doctor()).report.rootCauses).toEqual([])
})

test('a setting is set in .env and is so in the container; undo puts the file back to the byte', async () => {
  await up()
  const [file, dotenv] = [await fileOf('docker-compose.yml'), await fileOf('.env')]
  const has = (): string | undefined =>
    project.world.state.containers
      .find(({ Name }) => Name === '/testops')
      ?.Config.Env.find((it) => it.startsWith('VENDOR_JWT_'))
  const { run: id } = await repair('set-env', 'VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS=7200')
  expect(has()).toBe('VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS=7200')
  expect([await fileOf('docker-compose.yml'), await fileOf('.env')]).toEqual([file, dotenv.replace('3600', '7200')])
  await repair('undo', id!)
  expect([has(), await fileOf('.env')]).toEqual(['VENDOR_JWT_ACCESS_TOKEN_VALIDITY_SECONDS=3600', dotenv])
})

test('the image is edited in the file that the containers know, without a configuration that names it', async () => {
  await up()
  const file = await fileOf('docker-compose.yml')
  const planned = JSON.parse((await run('use-legacy-image', '--apply', '--dry-run', '--json')).stdout) as RepairDocument
  expect(planned.plan?.steps.map(({ action }) => action.kind)).toEqual([
    'fetch-image',
    'stop-service',
    'edit-values',
    'start-service',
  ])
  expect(await fileOf('docker-compose.yml')).toBe(file)
  const alone = await run('use-legacy-image', '-d', 'testops', '--confirm', 'docker-compose.yml')
  expect([alone.exitCode, await fileOf('docker-compose.yml')]).toEqual([
    0,
    file.replace('/testops:527u01', '/testops-legacy:527u01'),
  ])
})
