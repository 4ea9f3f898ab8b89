import { appendFile, readFile, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { planned } from '../../src/cli/mcp/tools.ts'
import type { DoctorReport } from '../../src/core/check.ts'
import type { RepairDocument } from '../../src/core/repair.ts'
import { hashOf } from '../../src/engine/carry-out.ts'
import type { LabStatusDocument } from '../../src/output/lab.ts'
import { faultsOf } from '../output/schemas.ts'
import { withDatabase } from './support/databases.ts'
import { sharedLab } from './support/own-lab.ts'

const timeoutMs = 180_000
const program = fileURLToPath(new URL('../../bin/run.js', import.meta.url))
const planted = ['Pl4nted-0ne-secret', 'Pl4nted-Tw0-secret', 'Pl4nted-Thr33-secret']

const lab = sharedLab()
const client = new Client({ name: 'test', version: '1' })

beforeAll(async () => {
  const folder = dirname(lab.root)
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', '-d', 'lab'],
      cwd: folder,
      env: {
        PATH: process.env.PATH ?? '',
        HOME: process.env.HOME ?? '',
        TESTOPS_ADMIN_LAB_DIR: lab.root,
        XDG_STATE_HOME: join(folder, 'state'),
      },
      stderr: 'ignore',
    }),
  )
}, timeoutMs)
afterAll(async () => client.close())

interface Answer {
  isError: boolean
  text: string
  command: string
  exitCode: number
  document: unknown
  all: string
}

async function call(name: string, given: Record<string, unknown> = {}): Promise<Answer> {
  const result = await client.callTool({ name, arguments: given }, { timeout: timeoutMs })
  const [first] = result.content
  if (first?.type !== 'text') throw new Error('no text')
  const { command, exitCode, document } = (result.structuredContent ?? {}) as Omit<Answer, 'isError' | 'text' | 'all'>
  return {
    isError: result.isError === true,
    text: first.text,
    command,
    exitCode,
    document,
    all: JSON.stringify(result),
  }
}

/** Everything that a repair could change: lock, service, settings, records of runs, here and in the deployment. */
async function world(): Promise<unknown> {
  const { document } = await lab.json<LabStatusDocument>('lab', 'status')
  const [, host, port, user, database] = /psql -h (\S+) -p (\S+) -U (\S+) (\S+)$/m.exec(document.commands.join('\n'))!
  const password = (await readFile(join(lab.root, 'secrets', 'database'), 'utf8')).trim()
  const login = { host: host!, port: Number(port), user: user!, password, database: database! }
  const { rows } = await withDatabase(login, (db) => db.query('SELECT * FROM databasechangeloglock ORDER BY id'))
  const { document: history } = await lab.json<object>('history', '-d', 'lab')
  const state = await readdir(join(dirname(lab.root), 'state'), { recursive: true }).catch(() => [])
  return {
    rows,
    service: document.service,
    settings: await readFile(join(lab.root, 'service', 'service.env'), 'utf8'),
    history,
    state: state.sort(),
  }
}

describe('on a deployment with a stuck lock and planted secrets', () => {
  beforeAll(async () => {
    await lab.must('lab', 'break', 'stuck-lock/unnoticed')
    await appendFile(
      join(lab.root, 'service', 'service.env'),
      `PLANTED_PASSWORD="${planted[0]}"\nPLANTED_URL="https://me:${planted[1]}@host.example.org/"\n`,
    )
    await appendFile(
      join(lab.root, 'service', 'service.log'),
      [
        `Could not acquire change log lock: ${planted[0]}`,
        `java.net.UnknownHostException: h with password=${planted[2]}`,
      ]
        .map((line) => `${new Date().toISOString().replace('T', ' ').slice(0, 23)} ERROR 1 --- [main] x : ${line}\n`)
        .join(''),
    )
  }, timeoutMs)

  test(
    'doctor, scan_logs, preflight and history say what the commands say',
    async () => {
      const doctor = await call('doctor')
      const report = doctor.document as DoctorReport
      const { document: printed, exitCode } = await lab.json<DoctorReport>('doctor', '-d', 'lab')
      const outcomes = ({ checks }: DoctorReport): unknown => checks.map(({ id, status }) => [id, status])
      expect(faultsOf('doctor', report)).toEqual([])
      expect([doctor.isError, doctor.exitCode, doctor.command]).toEqual([
        false,
        exitCode,
        'testops-admin doctor -d lab',
      ])
      expect([outcomes(report), report.rootCauses]).toEqual([outcomes(printed), printed.rootCauses])
      expect(report.rootCauses).toContain('database/changelog-lock')
      const [scan, preflight, history] = await Promise.all([
        call('scan_logs', { since: '1h' }),
        call('preflight', { to: '527u02', 'backup-taken': '1h' }),
        call('history'),
      ])
      expect(faultsOf('scan-logs', scan.document)).toEqual([])
      expect(faultsOf('preflight', preflight.document)).toEqual([])
      expect(faultsOf('history', history.document)).toEqual([])
      expect(scan.text).toContain('lock-refused')
      expect([preflight.isError, preflight.exitCode, preflight.command]).toEqual([
        false,
        2,
        'testops-admin preflight --to=527u02 --backup-taken=1h -d lab',
      ])
      const all = [doctor, scan, preflight, history].map((it) => it.all).join('')
      expect(planted.filter((it) => all.includes(it))).toEqual([])
    },
    timeoutMs,
  )

  test(
    'a plan of every repair changes nothing, and is the plan of the command that a person types',
    async () => {
      const before = await world()
      const options: Partial<Record<keyof typeof planned, Record<string, unknown>>> = {
        'migrate-trees': { 'all-projects': true },
        'set-env': { setting: ['A_NEW_SETTING=1'] },
      }
      const ids = Object.keys(planned) as (keyof typeof planned)[]
      const withSteps: string[] = []
      for (const repair of ids) {
        const { isError, document, command, text, all } = await call('plan', { repair, ...options[repair] })
        expect(planted.filter((it) => all.includes(it))).toEqual([])
        // the lab has no file of values
        expect(isError, all).toBe(repair === 'use-legacy-image')
        if (isError) continue
        const { plan, hash, outcome } = document as RepairDocument
        expect(faultsOf('repair', document)).toEqual([])
        expect([outcome, hash, plan.repair]).toEqual(['planned', hashOf(plan), repair])
        expect(text).toContain(`Hash: ${hash}`)
        expect(command).toMatch(/^testops-admin (?:service )?[\w-]+(?: A_NEW_SETTING=1| --all-projects)? -d lab$/)
        if (plan.steps.length > 0) withSteps.push(repair)
      }
      expect(withSteps).toEqual(expect.arrayContaining(['service-restart', 'set-env', 'unlock-changelog']))
      expect(await world()).toEqual(before)
    },
    timeoutMs,
  )
})
