import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { codeOf } from '../../src/core/error.ts'
import { readServer, removeServer, stopServer } from '../../src/lab/servers/index.ts'
import type { HistoryDocument } from '../../src/output/history.ts'
import type { LabDownDocument, LabStatusDocument, LabUpDocument } from '../../src/output/lab.ts'
import { decisive } from '../support/campaign.ts'
import { ownLab } from './support/own-lab.ts'
import type { OwnLab } from './support/own-lab.ts'

interface Failure {
  error: { code: string; message: string; suggestions: readonly string[] }
}

const timeoutMs = 180_000

let lab: OwnLab

beforeEach(async () => {
  lab = await ownLab()
})
afterEach(async () => expect(await lab.end()).toEqual([]), timeoutMs)

describe('lab up', () => {
  test(
    'done again says so, brings back what is missing, and refuses another broker',
    async () => {
      const first = await lab.json<LabUpDocument>('lab', 'up')
      expect(first).toMatchObject({ exitCode: 0, document: { already: false, phase: 'up', broken: [] } })
      expect(first.document.servers.map(({ kind, running }) => `${kind} ${running}`)).toEqual([
        'postgres true',
        'rabbitmq true',
        'redis true',
      ])

      const again = await lab.json<LabUpDocument>('lab', 'up')
      expect(again).toMatchObject({ exitCode: 0, document: { already: true, started: [] } })
      expect(again.document.servers).toEqual(first.document.servers)

      const redis = (await readServer(join(lab.root, 'servers/redis')))!
      await stopServer(redis, 'kill')
      process.kill(await pidOfService(lab), 'SIGKILL')
      const healed = await lab.json<LabUpDocument>('lab', 'up')
      expect(healed).toMatchObject({
        exitCode: 0,
        document: { already: true, started: [`Redis ${redis.version}`, 'the practice service'] },
      })

      const other = await lab.json<Failure>('lab', 'up', '--broker', '3')
      expect(other).toMatchObject({
        exitCode: 4,
        document: {
          error: {
            code: 'REFUSED',
            message: 'the lab already exists, with broker 4.3',
            suggestions: ['testops-admin lab down', 'testops-admin lab up --broker 3'],
          },
        },
      })
    },
    timeoutMs,
  )

  test(
    'names a port that is taken, and leaves nothing',
    async () => {
      await onTakenPort(async (port) => {
        const { exitCode, document } = await lab.json<Failure>('lab', 'up', '--port', String(port))
        expect(exitCode).toBe(69)
        expect(document.error.message).toBe(
          `the practice service needs port ${port} on 127.0.0.1, but another program uses that port`,
        )
        expect(existsSync(join(lab.root, 'lab.json'))).toBe(false)
      })
    },
    timeoutMs,
  )

  test(
    'interrupted by Ctrl-C ends with 6 and leaves nothing',
    async () => {
      const up = lab.start('lab', 'up')
      await until(() => existsSync(join(lab.root, 'servers/redis/server.json')))
      up.interrupt()
      const { exitCode, stderr } = await up.ended
      expect(exitCode).toBe(6)
      // the servers are gone: there is nothing to look at or to mend
      expect(stderr).toMatch(/Error: interrupted: there is no lab now\n\nTry:\n {2}testops-admin lab up\n$/)
      expect(existsSync(join(lab.root, 'lab.json'))).toBe(false)
      expect(existsSync(join(lab.root, 'servers/redis'))).toBe(false)
    },
    timeoutMs,
  )

  test(
    'that fails leaves nothing, and suggests nothing that is gone with it',
    async () => {
      const up = lab.start('lab', 'up')
      const pidFile = join(lab.root, 'service/service.pid')
      await until(() => existsSync(pidFile))
      process.kill(Number.parseInt(readFileSync(pidFile, 'utf8'), 10), 'SIGKILL')
      const { exitCode, stderr } = await up.ended
      expect(exitCode).toBe(1)
      expect(stderr.replace(/\s+/g, ' ')).toMatch(
        /Error: the practice service did not start: [^:]+ Try: testops-admin lab up $/,
      )
      expect(existsSync(lab.root)).toBe(false)
    },
    timeoutMs,
  )

  test(
    'twice at once, and a `lab down` with them: one goes through, the others are told of it',
    async () => {
      const all = await Promise.all([
        lab.json<LabUpDocument & Failure>('lab', 'up'),
        lab.json<LabUpDocument & Failure>('lab', 'up'),
      ])
      expect(all.map(({ exitCode }) => exitCode).sort()).toEqual([0, 5])
      expect(all.find(({ exitCode }) => exitCode === 5)?.document.error).toMatchObject({
        code: 'BUSY',
        message: expect.stringMatching(
          /^another operator has been running `lab up` \(process \d+\) on this lab since 20/,
        ) as string,
      })
      const again = lab.start('lab', 'up')
      await until(() => existsSync(join(lab.root, 'operator.lock')))
      expect(await lab.json<Failure>('lab', 'down')).toMatchObject({
        exitCode: 5,
        document: { error: { code: 'BUSY' } },
      })
      expect((await again.ended).exitCode).toBe(0)
    },
    timeoutMs,
  )

  test(
    'killed: the next one goes on from there',
    async () => {
      const up = lab.start('lab', 'up')
      await until(() => existsSync(join(lab.root, 'servers/rabbitmq-4.3/server.json')))
      up.child.kill('SIGKILL')
      await up.ended
      expect((await lab.json<LabStatusDocument>('lab', 'status')).document.phase).toBe('starting')
      expect(await lab.json('lab', 'break', 'api-slow')).toMatchObject({
        exitCode: 69,
        document: { error: { code: 'UNAVAILABLE', suggestions: ['testops-admin lab up', 'testops-admin lab down'] } },
      })
      expect(await lab.json<LabUpDocument>('lab', 'up')).toMatchObject({ exitCode: 0, document: { phase: 'up' } })
    },
    timeoutMs,
  )
})

describe('a lab after another one', () => {
  const ends: [string, () => Promise<void>][] = [
    ['the folder was removed by hand', removedByHand],
    ['lab down', async () => lab.must('lab', 'down')],
  ]
  test.each(decisive(ends, 1))(
    'knows nothing of a repair of the former one that did not come to its end: %s',
    async (_, end) => {
      await lab.must('lab', 'up')
      await killedRestart()
      expect((await lab.run('doctor', '-d', 'lab', '--only', 'service/unfinished-repair')).exitCode).toBe(1)
      await end()
      await lab.must('lab', 'up')
      const { document } = await lab.json<HistoryDocument>('history', '-d', 'lab')
      expect(document.runs).toEqual([])
    },
    timeoutMs,
  )
})

describe('lab down', () => {
  const instants = [
    ['while servers start', 'servers/rabbitmq-4.3/server.json'],
    ['before any server is on record', 'lab.json'],
    ['once the service is about to start', 'service/service.env'],
    ['when the service has just been started', 'service/service.pid'],
  ]
  // afterEach takes it down and looks for what is left
  test.each(decisive(instants, 2))(
    'leaves nothing of a `lab up` that was killed %s',
    async (_when, file) => {
      const up = lab.start('lab', 'up')
      await until(() => existsSync(join(lab.root, file)))
      up.child.kill('SIGKILL')
      await up.ended
    },
    timeoutMs,
  )

  test(
    'is harmless without a lab, twice, and where the state is damaged',
    async () => {
      expect(await lab.json<LabDownDocument>('lab', 'down')).toMatchObject({
        exitCode: 0,
        document: { found: false, removed: [] },
      })
      await mkdir(lab.root)
      await writeFile(join(lab.root, 'lab.json'), '{"schemaVersion": ')
      expect(await lab.json<Failure>('lab', 'status')).toMatchObject({
        exitCode: 1,
        document: { error: { code: 'FAILED', suggestions: ['testops-admin lab down'] } },
      })
      expect(await lab.json<LabDownDocument>('lab', 'down')).toMatchObject({ exitCode: 0, document: { found: true } })
      expect(await lab.json<LabDownDocument>('lab', 'down')).toMatchObject({ exitCode: 0, document: { found: false } })
    },
    timeoutMs,
  )
})

async function pidOfService(lab: OwnLab): Promise<number> {
  const { document } = await lab.json<LabStatusDocument>('lab', 'status')
  return Number(/process (\d+)/.exec(document.service!.detail)![1])
}

async function onTakenPort(use: (port: number) => Promise<void>): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    await use((server.address() as AddressInfo).port)
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}

/** The deployment's servers do not tell of it: a restart has no journal in them where its record names no address. */
async function killedRestart(): Promise<void> {
  const repair = lab.start('service', 'restart', '-d', 'lab', '--confirm', 'lab')
  await until(hasBegunStep)
  repair.child.kill('SIGKILL')
  await repair.ended
}

/** Before that, nothing was done that would have to be undone. */
function hasBegunStep(): boolean {
  const state = join(lab.root, '..', 'state')
  try {
    return readdirSync(state, { recursive: true, encoding: 'utf8' }).some(
      (file) => file.endsWith('journal.jsonl') && readFileSync(join(state, file), 'utf8').includes('"event":"intent"'),
    )
  } catch (error) {
    // a run begins in a folder `.new`, which is renamed meanwhile
    if (codeOf(error) !== 'ENOENT') throw error
    return false
  }
}

/** As after a restart of the machine: nothing of it runs, and nobody has called `lab down`. */
async function removedByHand(): Promise<void> {
  const servers = join(lab.root, 'servers')
  for (const name of readdirSync(servers)) {
    const record = (await readServer(join(servers, name)))!
    await removeServer(record)
  }
  const service = join(lab.root, 'service/service.pid')
  if (existsSync(service))
    try {
      process.kill(Number.parseInt(readFileSync(service, 'utf8'), 10), 'SIGKILL')
    } catch (error) {
      // without its servers it may have ended by itself
      if (codeOf(error) !== 'ESRCH') throw error
    }
  await rm(lab.root, { recursive: true, maxRetries: 20 })
}

async function until(isSo: () => boolean): Promise<void> {
  for (const end = Date.now() + 120_000; !isSo(); await sleep(5))
    if (Date.now() > end) throw new Error('waited in vain')
}
