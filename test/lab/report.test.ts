import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFile, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { DoctorReport } from '../../src/core/check.ts'
import type { LabStatusDocument } from '../../src/output/lab.ts'
import type { MadeReport, ReportDifference, ShownReport } from '../../src/output/report.ts'
import { writeArchive } from '../../src/runtime/archive.ts'
import { faultsOf } from '../output/schemas.ts'
import { sharedLab } from './support/own-lab.ts'

const timeoutMs = 120_000
const lab = sharedLab()
const place = (name: string): string => join(dirname(lab.root), name)

async function made(name: string, ...words: string[]): Promise<MadeReport> {
  const { exitCode, document, stderr } = await lab.json<MadeReport>(
    'report',
    '-d',
    'lab',
    '--output',
    place(name),
    ...words,
  )
  expect([exitCode, stderr, faultsOf('report', document)]).toEqual([0, '', []])
  return document
}

test('a report of a healthy deployment says what is in it, and is for this user alone', async () => {
  const document = await made('healthy.tar.gz')
  expect(document).toMatchObject({ deployment: 'lab', exitCode: 0, gaps: [], rootCauses: [], secrets: 3 })
  expect((await stat(document.file)).mode & 0o777).toBe(0o600)
  const { exitCode, document: shown } = await lab.json<ShownReport>('report', 'show', document.file)
  expect([exitCode, faultsOf('report-show', shown)]).toEqual([0, []])
  expect(shown.files.map(({ name }) => name)).toEqual([
    'report.json',
    'doctor.txt',
    'doctor.json',
    'answers.json',
    'versions.json',
    'settings.json',
    'runs-here.json',
    'runs-in-deployment.json',
    'log.txt',
    'removed.json',
  ])
  const { stdout } = await lab.run('report', 'show', document.file)
  expect(stdout).toContain('Diagnosis: healthy. Exit code of doctor: 0.')
  const again = await lab.run('report', '-d', 'lab', '--output', document.file)
  expect([again.exitCode, again.stderr]).toEqual([4, expect.stringContaining('exists already')])
})

test('doctor says from a report on a machine without the lab what it said of the lab', async () => {
  await lab.must('lab', 'break', 'stuck-lock/given-up')
  try {
    const { exitCode, document: live } = await lab.json<DoctorReport>('doctor', '-d', 'lab')
    await made('locked.tar.gz')
    await lab.must('lab', 'mend')
    const saved = await lab.json<DoctorReport>('doctor', '--from', place('locked.tar.gz'))
    expect([saved.exitCode, saved.document.rootCauses]).toEqual([exitCode, live.rootCauses])
    expect(faultsOf('doctor', saved.document)).toEqual([])
    const one = await lab.run('doctor', '--from', place('locked.tar.gz'), '--only', 'database/changelog-lock')
    expect([one.exitCode, one.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^From a report of \S+ \S+Z, .* Nothing was asked now\. Commands in it come from the report/,
      ),
    ])
    expect(one.stdout).toMatch(/testops-admin unlock-changelog -d lab/)
  } finally {
    await lab.must('lab', 'mend')
  }
}, 180_000)

test(
  'two reports are compared',
  async () => {
    await made('before.tar.gz')
    await lab.must('lab', 'break', 'durable-mismatch/setting-false')
    try {
      await made('after.tar.gz')
    } finally {
      await lab.must('lab', 'mend')
    }
    const words = ['report', 'diff', place('before.tar.gz')] as const
    const { exitCode, document } = await lab.json<ReportDifference>(...words, place('after.tar.gz'))
    expect([exitCode, faultsOf('report-diff', document)]).toEqual([1, []])
    expect(document.changes).toContainEqual({
      part: 'settings',
      name: 'VENDOR_RABBIT_DURABLE',
      from: 'true',
      to: 'false',
    })
    expect(document.changes).toContainEqual({ part: 'checks', name: 'broker/queues-durable', from: 'ok', to: 'error' })
    expect(document.notCompared).toContain('settings: SPRING_DATASOURCE_PASSWORD')
    const same = await lab.run(...words, place('before.tar.gz'))
    expect([same.exitCode, same.stdout]).toEqual([0, expect.stringContaining('No difference was found.')])
  },
  timeoutMs,
)

describe('sixty known secrets, planted everywhere', () => {
  const planted = Array.from({ length: 60 }, (_, index) => `S${index}x${randomBytes(9).toString('base64url')}`)
  const names = ['PASSWORD', 'API_TOKEN', 'CLIENT_SECRET', 'PRIVATE_KEY', 'ACCESS_KEY']

  test(
    'are in no file of a report, and doctor says the same from it',
    async () => {
      const settings = join(lab.root, 'service', 'service.env')
      const log = join(lab.root, 'service', 'service.log')
      const former = await readFile(settings, 'utf8')
      const place20 = (from: number): string[] => planted.slice(from, from + 20)
      await appendFile(
        settings,
        place20(0)
          .map((it, index) =>
            index % 4 === 0
              ? `PLANTED_${index}_URL="https://user:${it}@host${index}.example.org/x"\n`
              : `PLANTED_${index}_${names[index % names.length]}="${it}"\n`,
          )
          .join(''),
      )
      await appendFile(
        log,
        place20(20)
          .map(
            (it, index) =>
              [
                `2026-11-28 02:00:00.000 ERROR 1 --- [main] x : java.net.UnknownHostException: h with password=${it}`,
                `2026-11-28 02:00:00.000 ERROR 1 --- [main] x : {"token": "${it}", "x": 1}`,
                `2026-11-28 02:00:00.000 ERROR 1 --- [main] x : Authorization: Bearer ${it}`,
                `2026-11-28 02:00:00.000 ERROR 1 --- [main] x : GET https://u:${it}@h.example.org/?private_token=${it}`,
              ][index % 4]!,
          )
          .map((line) => `${line}\n`)
          .join('') +
          // what is known by its setting is found by its value, too
          place20(0)
            .map((it) => `2026-11-28 02:00:01.000 ERROR 1 --- [main] x : nothing before ${it} says what it is\n`)
            .join(''),
      )
      const { document: status } = await lab.json<LabStatusDocument>('lab', 'status')
      await declareQueues(status, place20(40))
      try {
        await made('planted.tar.gz')
        const compressed = await readFile(place('planted.tar.gz'))
        const all = gunzipSync(compressed).toString('latin1')
        expect(planted.filter((it) => all.includes(it) || compressed.includes(it))).toEqual([])
        expect(all).toContain('planted-0')
        const { document: shown } = await lab.json<ShownReport>('report', 'show', place('planted.tar.gz'))
        expect(shown.removed.length).toBeGreaterThanOrEqual(60)
        const saved = await lab.json<DoctorReport>('doctor', '--from', place('planted.tar.gz'))
        const live = await lab.json<DoctorReport>('doctor', '-d', 'lab')
        const outcomes = ({ checks }: DoctorReport): unknown => checks.map(({ id, status }) => [id, status])
        expect([saved.exitCode, outcomes(saved.document)]).toEqual([live.exitCode, outcomes(live.document)])
      } finally {
        await writeFile(settings, former)
      }
    },
    timeoutMs,
  )
})

/** Queues of others, with a secret in their arguments each. */
async function declareQueues({ servers }: LabStatusDocument, secrets: readonly string[]): Promise<void> {
  const broker = servers.find(({ kind }) => kind === 'rabbitmq')!
  const { connect } = await import('amqplib')
  const password = (await readFile(join(lab.root, 'secrets', 'broker'), 'utf8')).trim()
  const connection = await connect(`amqp://lab:${password}@${broker.address}/`)
  const channel = await connection.createChannel()
  for (const [index, secret] of secrets.entries())
    await channel.assertQueue(`planted-${index}`, {
      durable: true,
      arguments: index % 2 === 0 ? { 'x-password': secret } : { 'x-note': `amqp://user:${secret}@other.example.org/` },
    })
  await connection.close()
}

test(
  'what does not fit is left out and named; what cannot be left out is refused',
  async () => {
    await lab.must('lab', 'break', 'unknown-host')
    try {
      const { bytes } = (await made('whole.tar.gz')).files.find(({ name }) => name === 'log.txt')!
      const all = (await lab.json<MadeReport>('report', 'show', place('whole.tar.gz'))).document.files
      const needed = all.filter(({ name }) => !['report.json', 'removed.json', 'log.txt'].includes(name))
      const size = needed.reduce((sum, it) => sum + it.bytes, 0) + Math.floor(bytes * 0.9)
      const { gaps } = await made('small.tar.gz', '--max-size', String(size))
      expect(gaps).toEqual([{ what: 'log.txt', why: expect.stringContaining('--max-size') as string }])
      const { exitCode, stderr } = await lab.run(
        'report',
        '-d',
        'lab',
        '--output',
        place('none.tar.gz'),
        '--max-size',
        '1kB',
      )
      expect([exitCode, stderr]).toEqual([64, expect.stringContaining('--max-size is too small')])
    } finally {
      await lab.must('lab', 'mend')
    }
  },
  timeoutMs,
)

test.each([
  [['report', '-d', 'lab', '--max-size', 'much'], /^Error: --max-size much is not a size/],
  [['report', 'show', '/none/x.tar.gz'], /does not exist/],
  [['report', 'show'], /needs FILE that `report` wrote/],
  [['doctor', '--from', '/none/x.tar.gz'], /does not exist/],
  [['doctor', '--from', 'x.tar.gz', '--fix'], /--fix/],
  [['doctor', '--from', 'x.tar.gz', '--watch'], /--watch/],
  [['doctor', '--from', 'x.tar.gz', '-d', 'lab'], /--deployment cannot be used with it/],
])('%j is refused', async (words, why) => {
  const { exitCode, stdout, stderr } = await lab.run(...words)
  expect({ exitCode, stdout }).toEqual({ exitCode: 64, stdout: '' })
  expect(stderr).toMatch(why)
})

test.each([
  ['of a newer version', { schemaVersion: 2, kind: 'testops-admin report' }, /newer version of testops-admin/],
  ['of something else', { schemaVersion: 1, kind: 'x' }, /not an archive that/],
  ['without its parts', { schemaVersion: 1, kind: 'testops-admin report' }, /report\.json in it is incomplete/],
])('a report %s is refused', async (what, manifest, why) => {
  const path = place(`${what.replaceAll(' ', '-')}.tar.gz`)
  const files = [{ name: 'report.json', bytes: Buffer.from(JSON.stringify(manifest)) }]
  await writeArchive(path, { folder: 'x', files, at: new Date(), signal: new AbortController().signal })
  const { exitCode, stderr } = await lab.run('doctor', '--from', path)
  expect([exitCode, stderr.replace(/\s+/g, ' ')]).toEqual([64, expect.stringMatching(why)])
})

interface Answers {
  commands: unknown
  sources: Record<string, { parts: { facts: unknown; answers: { answer: unknown }[] }[] }>
}

test('an answer that was changed is damage of the archive, not a bug, and hides no other check', async () => {
  await made('to-change.tar.gz')
  const unpacked = join(dirname(lab.root), 'unpacked')
  await mkdir(unpacked)
  spawnSync('tar', ['-xzf', place('to-change.tar.gz'), '-C', unpacked, '--strip-components=1'])
  const whole = await readFile(join(unpacked, 'answers.json'), 'utf8')
  const fromChanged = async (change: (answers: Answers) => void): ReturnType<typeof lab.run> => {
    const answers = JSON.parse(whole) as Answers
    change(answers)
    const names = await readdir(unpacked)
    const files = await Promise.all(
      names.map(async (name) => ({
        name,
        bytes: name === 'answers.json' ? Buffer.from(JSON.stringify(answers)) : await readFile(join(unpacked, name)),
      })),
    )
    const path = place(`changed-${Math.random()}.tar.gz`)
    await writeArchive(path, { folder: 'x', files, at: new Date(), signal: new AbortController().signal })
    return lab.run('doctor', '--from', path, '--json')
  }
  const facts = await fromChanged(({ sources }) => (sources['service']!.parts[0]!.facts = {}))
  const report = JSON.parse(facts.stdout) as DoctorReport
  expect([facts.exitCode, JSON.stringify(report)]).toEqual([3, expect.not.stringMatching(/this is a bug|TypeError/)])
  expect(report.checks.flatMap(({ error }) => (error?.code === 'USAGE' ? [error.message] : []))).toContainEqual(
    expect.stringMatching(/^cannot read \S+: answers\.json in it is damaged, or testops-admin has a bug: \S/),
  )
  expect(report.summary.ok).toBeGreaterThan(10)
  const commands = await fromChanged((answers) => (answers.commands = { a: 1 }))
  expect([commands.exitCode, commands.stdout]).toEqual([64, expect.stringContaining('`commands` is incomplete')])
})

test.each([50, 150, 300, 600])(
  'killed after %i ms, it leaves no archive that could be taken for one',
  async (afterMs) => {
    const file = place(`killed-${afterMs}.tar.gz`)
    const { child, ended } = lab.start('report', '-d', 'lab', '--output', file)
    setTimeout(() => child.kill('SIGKILL'), afterMs)
    await ended
    const there = await stat(file).catch(() => null)
    if (there) expect((await lab.run('report', 'show', file)).exitCode).toBe(0)
    for (const name of await readdir(dirname(file))) if (name.endsWith('.part')) await rm(place(name))
  },
)

test.each([300, 450, 600])('interrupted after %i ms, it leaves the whole archive or nothing', async (afterMs) => {
  const file = place(`interrupted-${afterMs}.tar.gz`)
  const begun = lab.start('report', '-d', 'lab', '--output', file)
  setTimeout(() => begun.interrupt(), afterMs)
  const { exitCode } = await begun.ended
  const left = (await readdir(dirname(file))).filter((name) => name.includes(`interrupted-${afterMs}`))
  // before it listens, the signal ends it as any program
  expect([0, 6, null]).toContain(exitCode)
  expect(left).toEqual(exitCode === 0 ? [`interrupted-${afterMs}.tar.gz`] : [])
})
