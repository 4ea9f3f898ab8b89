import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { admin, guest, owner } from '../../lab/practice-service/support/client.ts'
import { textIn } from '../support/text-in.ts'
import { documentOf, endOf, firstTree, freshTrees, treeWords } from './support.ts'

const migration = { method: 'POST', path: '/api/project/*/migration' }
const clean = { skipped: 0, failed: [] }

test('projects, with what came of each call, and one token exchange in all', async () => {
  const { someone, plan, taken, query } = await freshTrees()
  await plan([{ method: 'POST', path: '/api/uaa/oauth/token', after: 1, status: 500 }])
  const ended = await someone.repair(['migrate-trees', '--project', '1', '2', '3'])
  expect(endOf(ended)).toEqual({ code: 0, outcome: 'done', requested: 3, accepted: 3, ...clean })
  expect(documentOf(ended)).toMatchObject({
    plan: {
      target: { service: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+, build 524u02$/) as string },
      impact: { projects: 3, trees: 4, calls: 3 },
      evidence: [
        'project 1 Web shop: trees 1 Features, 2 Suites',
        'project 2 Billing: tree 3 Features',
        'project 3 Mobile: tree 4 Suites',
      ],
    },
    verification: { 'trees/migrated': 'ok' },
  })
  expect(await taken()).toEqual({ '1/1': 1, '1/2': 1, '2/3': 1, '3/4': 1 })
  expect(await query('SELECT 1 FROM tree WHERE NOT migrated')).toEqual([])
  expect(`${ended.stdout}${ended.stderr}${textIn(someone.state)}`).not.toMatch(new RegExp(`${admin.apiToken}|eyJ`))
})

test('ten thousand ids twice over, from a file, each once', async () => {
  const { someone, taken } = await freshTrees({ more: 300 })
  const file = join(someone.state, 'trees.txt')
  const lines = Array.from({ length: 20_000 }, (_, index) => `1/${firstTree + (index % 300)}`)
  await writeFile(file, lines.join('\r\n'))
  const ended = await someone.repair(['migrate-trees', '--from-file', file, '--concurrency', '8'])
  expect(endOf(ended)).toEqual({ code: 0, outcome: 'done', requested: 300, accepted: 300, ...clean })
  expect(Object.values(await taken())).toEqual(Array.from({ length: 300 }, () => 1))
})

test('all that the service lists, and its jobs waited for', async () => {
  const { someone, taken, query } = await freshTrees({ more: 40 })
  const ended = await someone.repair(['migrate-trees', '--all-trees', '--wait'])
  expect(endOf(ended)).toEqual({ code: 0, outcome: 'done', requested: 44, accepted: 44, ...clean })
  expect(Object.keys(await taken())).toHaveLength(44)
  expect(await query("SELECT 1 FROM async_job WHERE status <> 'COMPLETED'")).toEqual([])
  expect(endOf(await someone.repair(['migrate-trees', '--all-projects']))).toEqual({
    code: 0,
    outcome: 'done',
    requested: 3,
    accepted: 3,
    ...clean,
  })
})

test('a job that fails is told by --wait', async () => {
  const { someone, query } = await freshTrees()
  await query('UPDATE tree_data SET path = left(path, 5) WHERE tree_id = 2')
  const ended = await someone.repair(['migrate-trees', '--project', '1', '--wait'])
  expect(endOf(ended)).toEqual({
    code: 1,
    outcome: 'failed',
    requested: 1,
    accepted: 1,
    ...clean,
    error: 'FAILED 1 migration job failed: test-case-tree-migration: project 1, tree 2',
  })
})

test('a job that is cancelled is no success of --wait', async () => {
  const { someone, query } = await freshTrees()
  await query(
    'CREATE FUNCTION cancel() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.tree_id = 2 THEN NEW.status ' +
      ":= 'CANCELLED'; END IF; RETURN NEW; END $$",
  )
  await query('CREATE TRIGGER cancelled BEFORE INSERT ON async_job FOR EACH ROW EXECUTE FUNCTION cancel()')
  const ended = await someone.repair(['migrate-trees', '--project', '1', '--wait'])
  expect(endOf(ended)).toMatchObject({
    code: 1,
    outcome: 'failed',
    accepted: 1,
    error: 'FAILED 1 migration job was cancelled: test-case-tree-migration: project 1, tree 2',
  })
})

test(
  'a job that does not end is waited for as long as the patience lasts: ' + 'resume waits again, undo closes the run',
  async () => {
    const { someone, query, taken } = await freshTrees()
    await query(
      "CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.status := 'IN_PROGRESS'; RETURN " +
        'NEW; END $$',
    )
    await query('CREATE TRIGGER hanging BEFORE UPDATE ON async_job FOR EACH ROW EXECUTE FUNCTION hang()')
    const ended = await someone.repair(['migrate-trees', '--tree', '1/1', '--wait', '--patience', '1'])
    const error =
      'INTERRUPTED 1 migration job is not finished after 1 s. The service accepted the calls, and continues ' +
      'unfinished jobs in the background'
    expect(endOf(ended)).toMatchObject({ code: 6, outcome: 'interrupted', accepted: 1, skipped: 0, error })
    const { run, error: told } = documentOf(ended)
    expect(told?.suggestions.slice(-2)).toEqual([
      `testops-admin resume ${run} -d prod`,
      `testops-admin undo ${run} -d prod   # closes the run without undoing its changes`,
    ])
    expect(endOf(await someone.run(['resume', '--json', '--patience', '1']))).toMatchObject({ code: 6, error })
    const closed = await someone.run(['undo', run!, '--confirm', 'prod'])
    expect([closed.code, closed.stdout]).toEqual([0, `Closed: its changes stay. Run ${run}.\n  1 of 1 call accepted\n`])
    expect(endOf(await someone.repair(['migrate-trees', '--tree', '1/2']))).toMatchObject({ code: 0, accepted: 1 })
    expect(await taken()).toEqual({ '1/1': 1, '1/2': 1 })
  },
)

describe('who may not see the migration jobs:', () => {
  const hidden = { method: 'GET', path: '/api/migration/job', status: 403 }

  test('asks for migrations, and is told that the outcome could not be judged', async () => {
    const { someone, plan } = await freshTrees()
    await plan([hidden])
    const ended = await someone.run(['migrate-trees', '--project', '1', '--confirm', 'prod'])
    expect([ended.code, ended.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^ {2}trees\/migrated {2}skipped\n {4}GET \S+\/api\/migration\/job is not allowed for this API\n/m,
      ) as string,
    ])
  })

  test('cannot wait for them, and is told so before anything is asked for', async () => {
    const { someone, plan, taken } = await freshTrees()
    await plan([hidden])
    const { code, stdout } = await someone.repair(['migrate-trees', '--project', '1', '--wait'])
    const message = expect.stringMatching(
      /^cannot list the service's migration jobs, which --wait needs: GET /,
    ) as string
    expect([code, JSON.parse(stdout), await taken()]).toMatchObject([69, { error: { code: 'FORBIDDEN', message } }, {}])
  })
})

describe('what is refused keeps none of the others:', () => {
  test('a project and a tree that are not there', async () => {
    const { someone, taken } = await freshTrees()
    const ended = await someone.repair(['migrate-trees', '--project', '99', '3', '--tree', '2/77', '2/3'])
    expect(endOf(ended)).toEqual({
      code: 1,
      outcome: 'failed',
      requested: 4,
      accepted: 2,
      skipped: 0,
      failed: [
        {
          project: 99,
          status: 404,
          message: expect.stringMatching(/^project 99 does not exist: HTTP 404, /) as string,
        },
        {
          project: 2,
          tree: 77,
          status: 404,
          message: expect.stringMatching(/^project 2 or its tree 77 does not exist: HTTP 404, /) as string,
        },
      ],
      error: 'FAILED 2 of 4 calls failed',
    })
    expect(documentOf(ended).error?.suggestions).toEqual([
      'testops-admin migrate-trees -d prod --project 99 --tree 2/77   ' +
        '# run this once the cause of the failures is gone',
    ])
    expect(await taken()).toEqual({ '2/3': 1, '3/4': 1 })
    const { run } = documentOf(ended)
    expect(await someone.run(['resume', '--json'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"nothing-to-do"') as string,
    })
    expect((await someone.repair(['undo', run!])).json()).toMatchObject({
      error: { code: 'REFUSED', message: `run ${run} cannot be undone: its changes are permanent` },
    })
  })

  test(
    'more than a line can hold: ' + 'they are in a file beside the journal, by which they are asked for again',
    async () => {
      const { someone, query } = await freshTrees({ more: 30 })
      await query('DELETE FROM tree WHERE id >= 1009')
      const ended = await someone.repair(['migrate-trees', ...treeWords(30)])
      const { failed, error } = documentOf(ended)
      expect([failed?.length, error?.message]).toEqual([22, '22 of 30 calls failed'])
      const [, file = ''] =
        new RegExp(
          String.raw`^testops-admin migrate-trees -d prod --from-file (\S+)   # repeats all failed calls ` +
            String.raw`\(the file gives the reasons\); run this once the cause of the failures is gone$`,
        ).exec(error?.suggestions[0] ?? '') ?? []
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      await query(
        "INSERT INTO tree (id, project_id, name, migrated) SELECT n, 1, 'Tree ' || n, TRUE FROM " +
          'generate_series(1009, 1030) n',
      )
      expect(endOf(await someone.repair(['migrate-trees', '--from-file', file]))).toEqual({
        code: 0,
        outcome: 'done',
        requested: 22,
        accepted: 22,
        ...clean,
      })
      expect(
        (await someone.run(['history', '--json'])).json<{ runs: unknown[]; unreadable: unknown[] }>(),
      ).toMatchObject({ runs: { length: 2 }, unreadable: [] })
    },
  )

  test('who lacks the role in one project', async () => {
    const { someone, taken } = await freshTrees({ user: owner })
    const ended = await someone.repair(['migrate-trees', '--project', '2', '1'])
    const message = expect.stringMatching(
      /^HTTP 403, .*; the call needs the project role `Владелец проекта` or the global role `Администратор`$/,
    ) as string
    expect(endOf(ended)).toMatchObject({ code: 1, accepted: 1, failed: [{ project: 2, status: 403, message }] })
    expect(Object.keys(await taken())).toEqual(['1/1', '1/2'])
    const none = await (await freshTrees({ user: guest })).someone.run([
      'migrate-trees',
      '--project',
      '1',
      '--confirm',
      'prod',
    ])
    expect([none.code, none.stdout]).toEqual([
      1,
      expect.stringMatching(/0 of 1 call accepted, 1 failed\n {4}project 1: HTTP 403, /) as string,
    ])
  })
})

describe('a service that does not take them:', () => {
  test('five failures in a row stop it, and resume asks for the rest, and for what failed', async () => {
    const { someone, plan, taken } = await freshTrees({ more: 20 })
    await plan([{ ...migration, after: 5, times: 5, status: 500 }])
    const ended = await someone.repair(['migrate-trees', ...treeWords(20), '--concurrency', '1'])
    const failed = Array.from({ length: 5 }, (_, index) => ({
      project: 1,
      tree: firstTree + 5 + index,
      status: 500,
      message: expect.stringMatching(/^HTTP 500/) as string,
    }))
    const error = expect.stringMatching(
      /^INTERRUPTED stopped after 5 failures in a row; last failure: HTTP 500/,
    ) as string
    expect(endOf(ended)).toEqual({
      code: 6,
      outcome: 'interrupted',
      requested: 20,
      accepted: 5,
      skipped: 10,
      failed,
      error,
    })
    expect(documentOf(ended).error?.suggestions).toContain(`testops-admin resume ${documentOf(ended).run} -d prod`)
    expect(endOf(await someone.run(['resume', '--json']))).toEqual({
      code: 0,
      outcome: 'done',
      requested: 20,
      accepted: 20,
      ...clean,
    })
    expect(Object.values(await taken())).toEqual(Array.from({ length: 20 }, () => 1))
  })

  test('four in a row do not', async () => {
    const { someone, plan } = await freshTrees({ more: 20 })
    await plan([{ ...migration, after: 5, times: 4, status: 500 }])
    const ended = await someone.repair(['migrate-trees', ...treeWords(20), '--concurrency', '1'])
    expect(endOf(ended)).toMatchObject({
      code: 1,
      outcome: 'failed',
      accepted: 16,
      skipped: 0,
      error: 'FAILED 4 of 20 calls failed',
    })
  })

  test('429 is waited for', async () => {
    const { someone, plan, taken } = await freshTrees({ more: 8 })
    await plan([{ ...migration, after: 2, times: 3, status: 429, headers: { 'Retry-After': '1' } }])
    expect(endOf(await someone.repair(['migrate-trees', ...treeWords(8)]))).toEqual({
      code: 0,
      outcome: 'done',
      requested: 8,
      accepted: 8,
      ...clean,
    })
    expect(Object.values(await taken())).toEqual(Array.from({ length: 8 }, () => 1))
  })

  test('a connection that is cut in place of the answer: the tree is asked for once more', async () => {
    const { someone, plan, taken } = await freshTrees({ more: 8 })
    await plan([
      { ...migration, path: `/api/project/1/test-case/tree/${firstTree}/migration`, times: 1, ending: 'lost' },
    ])
    expect(endOf(await someone.repair(['migrate-trees', ...treeWords(8)]))).toEqual({
      code: 0,
      outcome: 'done',
      requested: 8,
      accepted: 8,
      ...clean,
    })
    expect((await taken())[`1/${firstTree}`]).toBe(2)
  })

  test('it restarts in the middle', async () => {
    const { someone, taken, stop, start } = await freshTrees({ more: 60 })
    const begun = someone.begin(['migrate-trees', ...treeWords(60), '--confirm', 'prod', '--json'], {
      failpoint: 'migrate-trees:answered#20=stop',
    })
    await begun.untilStopped()
    await stop()
    begun.goOn()
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await start()
    expect(endOf(await begun.ended)).toEqual({ code: 0, outcome: 'done', requested: 60, accepted: 60, ...clean })
    const times = Object.entries(await taken())
      .filter(([name]) => name.startsWith('1/10'))
      .map(([, count]) => count)
    expect([times.length, Math.max(...times) <= 2]).toEqual([60, true])
  })
})

test('a dry run asks, and changes nothing anywhere', async () => {
  const { someone, asked, taken } = await freshTrees({ witness: true })
  const ended = await someone.run(['migrate-trees', '--all-trees', '--wait', '--dry-run', '--json'])
  expect(endOf(ended)).toEqual({ code: 0, outcome: 'planned', requested: 4, accepted: 0, skipped: 4, failed: [] })
  expect([...new Set(asked.filter((it) => !it.startsWith('GET ')))]).toEqual(['POST /api/uaa/oauth/token'])
  expect(asked).toContain('GET /api/tree')
  expect(await readdir(someone.state, { recursive: true })).toEqual([])
  expect(await taken()).toEqual({})
  await someone.repair(['migrate-trees', '--project', '1'])
  expect(asked).toContain('POST /api/project/1/test-case/tree/migration')
})

test('interrupted while it lists what there is, it ends without waiting for that', async () => {
  const { someone, plan, asked, taken } = await freshTrees({ witness: true })
  await plan([{ method: 'GET', path: '/api/tree', ending: 'silent' }])
  const begun = someone.begin(['migrate-trees', '--all-trees', '--confirm', 'prod', '--json', '--timeout', '30'])
  await expect.poll(() => asked.includes('GET /api/tree'), { timeout: 20_000 }).toBe(true)
  begun.child.kill('SIGINT')
  const ended = await begun.ended
  expect([ended.code, ended.json()]).toEqual([
    6,
    { error: { code: 'INTERRUPTED', message: 'interrupted by SIGINT', suggestions: [] } },
  ])
  expect(await taken()).toEqual({})
})

test('standard input leaves no terminal to ask on: --confirm is needed, and said', async () => {
  const { someone, taken } = await freshTrees()
  const { child, ended } = someone.begin(['migrate-trees', '--from-file', '-', '--json'], { input: '1/1\n' })
  const { code, json } = await ended
  expect(child.exitCode).toBe(4)
  expect([code, json()]).toMatchObject([
    4,
    {
      outcome: 'refused',
      requested: 1,
      accepted: 0,
      skipped: 1,
      failed: [],
      error: { suggestions: ['testops-admin migrate-trees --from-file - --json --confirm prod'] },
    },
  ])
  const confirmed = await someone.begin(['migrate-trees', '--from-file', '-', '--confirm', 'prod', '--json'], {
    input: '1/1\n',
  }).ended
  expect(endOf(confirmed)).toEqual({ code: 0, outcome: 'done', requested: 1, accepted: 1, ...clean })
  expect(await taken()).toEqual({ '1/1': 1 })
})
