import { appendFile, chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runFolder } from '../../src/adapters/run-folder.ts'
import { runStoreContract } from '../contracts/run-store.ts'
import { eventOf, recordOf, run, told } from '../engine/repairing.ts'
import { strangeNames } from '../support/strange-names.ts'
import { failureOf } from './failure-of.ts'

const intent = eventOf({ event: 'intent', step: 0 })
const done = eventOf({ event: 'done', step: 0, durationMs: 3 })

async function emptyFolder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'testops-admin-runs-'))
  onTestFinished(async () => {
    await chmod(parent, 0o700)
    await rm(parent, { recursive: true, force: true })
  })
  return join(parent, 'prod', 'runs')
}

describe('journals in a folder', () => {
  runStoreContract(async () => {
    const folder = await emptyFolder()
    return { store: runFolder(folder), again: async () => runFolder(folder), close: async () => undefined }
  })
})

test('a place that is no folder is told, and no bug', async () => {
  const folder = await emptyFolder()
  await mkdir(dirname(folder), { recursive: true })
  await writeFile(folder, '')
  for (const asking of [async () => runFolder(folder).list(), async () => runFolder(folder).read(run)])
    expect(await failureOf(asking())).toMatch(
      /^UNAVAILABLE the saved records of runs on this machine cannot be read: ENOTDIR/,
    )
})

test('nobody else may read them', async () => {
  const folder = await emptyFolder()
  await (await runFolder(folder).begin(recordOf())).close()
  const modes = await Promise.all(
    ['', 'run.json', 'journal.jsonl'].map(async (name) =>
      ((await stat(join(folder, run, name))).mode & 0o777).toString(8),
    ),
  )
  expect(modes).toEqual(['700', '600', '600'])
})

describe('a journal that is damaged', () => {
  async function written(): Promise<{ folder: string; journal: string; record: string }> {
    const folder = await emptyFolder()
    await (await runFolder(folder).begin(recordOf(), [intent, done])).close()
    return { folder, journal: join(folder, run, 'journal.jsonl'), record: join(folder, run, 'run.json') }
  }

  test('its last line is cut short: it says nothing, and does not swallow the next one', async () => {
    const { folder, journal } = await written()
    const { size } = await stat(journal)
    await truncate(journal, size - 5)
    expect(told(await runFolder(folder).read(run))).toEqual(['intent 0'])
    const log = await runFolder(folder).reopen(run)
    await log.append(done)
    await log.close()
    expect(told(await runFolder(folder).read(run))).toEqual(['intent 0', 'done 0'])
  })

  test.each<[what: string, damage: (of: { journal: string; record: string }) => Promise<void>, said: RegExp]>([
    [
      'a line within it',
      async ({ journal }) => writeFile(journal, `${(await readFile(journal, 'utf8')).slice(5)}`),
      /journal\.jsonl \(begun with testops-admin 0\.1\.0\) is damaged: line 1: it contains no event$/,
    ],
    [
      'a line of nothing',
      async ({ journal }) => appendFile(journal, '\n'),
      /is damaged: line 3: it contains no event$/,
    ],
    [
      'an event of a later version',
      async ({ journal }) => appendFile(journal, `${JSON.stringify({ ...intent, event: 'painted' })}\n`),
      /has a format that this version of testops-admin cannot read: line 3: unknown event painted$/,
    ],
    [
      'no events file',
      async ({ journal }) => rm(journal),
      /^UNEXPECTED_ANSWER the saved record of run .* is damaged: .*journal\.jsonl is missing$/,
    ],
    ['no record', async ({ record }) => rm(record), /run\.json is missing$/],
    [
      'a record cut short',
      async ({ record }) => truncate(record, 40),
      /run\.json is damaged: record is not an object$/,
    ],
    ['an empty record', async ({ record }) => truncate(record, 0), /run\.json is damaged: record is not an object$/],
    [
      'a record of another run',
      async ({ record }) =>
        writeFile(record, JSON.stringify(recordOf({ run: '20261121T021244Z-unlock-changelog-ffff' }))),
      /is damaged: it names another run, 20261121T021244Z-unlock-changelog-ffff$/,
    ],
    [
      'a record of a later version',
      async ({ record }) => writeFile(record, JSON.stringify({ ...recordOf(), schemaVersion: 2, program: '3.0.0' })),
      /begun with testops-admin 3\.0\.0\) has a format that this version of testops-admin cannot read/,
    ],
  ])('%s: it is not guessed at', async (_, damage, said) => {
    const files = await written()
    await damage(files)
    const store = runFolder(files.folder)
    expect(await failureOf(store.read(run))).toMatch(said)
    expect(await failureOf(store.reopen(run))).toMatch(said)
    expect(await store.list()).toEqual([
      { run, unreadable: expect.stringMatching(new RegExp(said.source.replace('^UNEXPECTED_ANSWER ', ''))) as string },
    ])
  })

  test('it is put aside, not lost', async () => {
    const { folder, record } = await written()
    await truncate(record, 3)
    const store = runFolder(folder)
    await store.remove(run)
    await (await store.begin(recordOf(), [intent])).close()
    expect(told(await store.read(run))).toEqual(['intent 0'])
    expect((await readdir(folder)).sort()).toEqual([run, expect.stringMatching(new RegExp(`^${run}\\.aside-`))])
  })
})

test('a process that was killed while it began one left nothing that counts', async () => {
  const folder = await emptyFolder()
  await mkdir(join(folder, `${run}.new`), { recursive: true })
  await writeFile(join(folder, `${run}.new`, 'run.json'), '{"run"')
  const store = runFolder(folder)
  expect(await store.list()).toEqual([])
  await (await store.begin(recordOf(), [intent])).close()
  expect(await readdir(folder)).toEqual([run])
  expect(told(await store.read(run))).toEqual(['intent 0'])
})

test('one that is there is not begun again', async () => {
  const store = runFolder(await emptyFolder())
  await (await store.begin(recordOf(), [intent])).close()
  expect(await failureOf(store.begin(recordOf()))).toMatch(/^UNAVAILABLE the record of this run cannot be saved: /)
  expect(told(await store.read(run))).toEqual(['intent 0'])
})

test('a folder that cannot be written fails with what to do', async () => {
  const folder = await emptyFolder()
  await writeFile(dirname(folder), 'a file')
  const failure = runFolder(folder).begin(recordOf())
  await expect(failure).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/^the record of this run cannot be saved: E(NOTDIR|EXIST)/) as string,
    suggestions: [
      `ls -ld ${folder}`,
      'export XDG_STATE_HOME=DIRECTORY   # keeps the saved records of runs in another folder',
    ],
  })
})

describe('a name that is none', () => {
  /** A state folder beside a folder of somebody else, and all that is in both. */
  async function neighbourhood(): Promise<{ folder: string; all: () => Promise<string[]> }> {
    const folder = await emptyFolder()
    const top = dirname(dirname(folder))
    await (await runFolder(folder).begin(recordOf(), [intent])).close()
    await mkdir(join(top, 'precious'))
    await writeFile(join(top, 'precious', 'run.json'), JSON.stringify(recordOf()))
    await writeFile(join(top, 'precious', 'journal.jsonl'), '')
    return { folder, all: async () => (await readdir(top, { recursive: true })).sort() }
  }

  test.each(strangeNames.map((name) => [JSON.stringify(name).slice(0, 60), name]))(
    '%s touches nothing',
    async (_, name) => {
      const { folder, all } = await neighbourhood()
      const before = await all()
      const store = runFolder(folder)
      const record = { ...recordOf(), run: name }
      for (const asking of [
        store.read(name),
        store.reopen(name),
        store.remove(name),
        store.begin(record),
        store.keep!(name, 'former', 'x'),
        store.keptText!(name, 'run.json'),
      ])
        expect(await failureOf(Promise.resolve(asking))).toMatch(/^USAGE .* is not the name of a run/)
      expect(await all()).toEqual(before)
    },
  )

  test.each(['../../../precious/run.json', '/etc/passwd', '..', '.', '', 'a/b', 'a\\b', 'a\u0000b'])(
    'of what is kept beside a journal: %j',
    async (name) => {
      const { folder, all } = await neighbourhood()
      const before = await all()
      expect(await failureOf(runFolder(folder).keep!(run, name, 'x'))).toMatch(
        /^REFUSED cannot save anything under the name/,
      )
      expect(await failureOf(runFolder(folder).keptText!(run, name))).toMatch(
        /^REFUSED cannot save anything under the name/,
      )
      expect(await all()).toEqual(before)
    },
  )

  test('a record whose name leads elsewhere is no record', async () => {
    const { folder } = await neighbourhood()
    await writeFile(join(folder, run, 'run.json'), JSON.stringify({ ...recordOf(), run: '../../../precious' }))
    expect(await failureOf(runFolder(folder).read(run))).toMatch(/is damaged: record\.run is not the name of a run$/)
  })

  test('a folder so called is listed apart, and nothing is read of it', async () => {
    const { folder } = await neighbourhood()
    for (const name of [`${run}.new`, `${run}.aside`, `${run}.aside-m1x2`, '\u001b[2J', '$(id)'])
      await mkdir(join(folder, name))
    await writeFile(join(folder, 'notes.txt'), '')
    expect((await runFolder(folder).list()).map((it) => ('record' in it ? it.record.run : it))).toEqual([run])
    const unreadable = `this folder in ${folder} is not named after a run`
    const strangers = await runFolder(folder).strangers!()
    expect([...strangers].sort((a, b) => (a.run < b.run ? -1 : 1))).toEqual([
      { run: '\u001b[2J', unreadable },
      { run: '$(id)', unreadable },
    ])
  })
})
