import { describe, expect, onTestFinished, test } from 'vitest'
import { writeMany, writeSession } from '../../adapters/stored-sessions.ts'
import { freshDatabase } from '../../servers/index.ts'
import { failpointsOf } from '../support/failpoints.ts'
import { textIn } from '../support/text-in.ts'
import { contents, documentOf, endOf, errorOf, ownStore } from './support.ts'
import { decisive } from '../../support/campaign.ts'

// without a broker, the deployment keeps no copy of the journal
const failpoints = failpointsOf(['remove-sessions']).filter((name) => name !== 'begin:copied')

describe('killed, and gone on with', () => {
  test.each(decisive(failpoints, 6))('%s', async (failpoint) => {
    const { client, someone } = await ownStore()
    await writeMany(client, 4500)
    await client.set('cache', 'x')
    const foreign = { cache: (await contents(client))['cache'] }
    await someone.killedAt(failpoint, ['flush-sessions'])
    const ended = await someone.run(['resume', '--json'])
    if (failpoint === 'end:after')
      expect({ code: ended.code, document: ended.json() }).toEqual({
        code: 0,
        document: { schemaVersion: 1, outcome: 'nothing-to-do' },
      })
    else expect(endOf(ended)).toMatchObject({ code: 0, outcome: 'done', verification: { 'sessions/clock': 'ok' } })
    expect(await contents(client)).toEqual(foreign)
    expect(textIn(someone.state)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}/)
  })

  test.each(['remove-sessions:removing', 'remove-sessions:removed'])('an indexed store at %s', async (failpoint) => {
    const { client, someone } = await ownStore()
    for (const user of ['alice', 'bob']) await writeSession(client, { user })
    await someone.killedAt(failpoint, ['flush-sessions', '--user', 'alice'])
    expect(endOf(await someone.run(['resume', '--json']))).toMatchObject({ code: 0, outcome: 'done' })
    expect((await client.keys('*:index:*')).map((key) => key.split(':').at(-1))).toEqual(['bob'])
    await someone.killedAt(failpoint, ['flush-sessions'])
    expect(endOf(await someone.run(['resume', '--json']))).toMatchObject({ code: 0, outcome: 'done' })
    // what alice's session left in the sets that end by themselves
    expect((await client.keys('*')).filter((key) => !/expirations/.test(key))).toEqual([])
  })

  test('--all, emptied at once', async () => {
    const { client, someone } = await ownStore()
    await writeMany(client, 3)
    await someone.killedAt('remove-sessions:removed', ['flush-sessions', '--all'])
    expect(endOf(await someone.run(['resume', '--json']))).toMatchObject({ code: 0, outcome: 'done' })
    expect(await client.dbsize()).toBe(0)
  })
})

test('there is nothing to take back, and the run is over', async () => {
  const { client, someone } = await ownStore()
  await writeMany(client, 3)
  const { run } = documentOf(await someone.repair(['flush-sessions']))
  const undone = await someone.repair(['undo', run!])
  expect(errorOf(undone)).toEqual({
    exit: 4,
    code: 'REFUSED',
    message: `run ${run} cannot be undone: its changes are permanent`,
    suggestions: ['testops-admin history -d prod'],
  })
})

test('interrupted between two batches, it ends half done and says how to go on', async () => {
  const { client, someone } = await ownStore()
  await writeMany(client, 20_000)
  const begun = someone.begin(['flush-sessions', '--confirm', 'prod', '--json'], {
    failpoint: 'remove-sessions:removing#2=stop',
  })
  await expect.poll(async () => client.dbsize(), { timeout: 10_000 }).toBeLessThan(20_000)
  await new Promise((resolve) => setTimeout(resolve, 300))
  begun.child.kill('SIGINT')
  begun.goOn()
  const ended = await begun.ended
  const { run, error } = documentOf(ended)
  expect({ code: ended.code, error }).toEqual({
    code: 6,
    error: {
      code: 'INTERRUPTED',
      message: 'interrupted by SIGINT',
      suggestions: [
        `testops-admin resume ${run} -d prod`,
        `testops-admin undo ${run} -d prod   # closes the run without undoing its changes`,
      ],
    },
  })
  expect(await client.dbsize()).toBeGreaterThan(0)
  expect(endOf(await someone.run(['resume', '--json']))).toMatchObject({ code: 0, outcome: 'done' })
  expect(await client.dbsize()).toBe(0)
})

test.each([
  { words: ['--json'], where: 'stdout' },
  { words: [], where: 'stderr' },
] as const)('interrupted twice, it ends at once, and says how to go on: $words', async ({ words, where }) => {
  const { client, someone } = await ownStore()
  await writeMany(client, 20_000)
  const begun = someone.begin(['flush-sessions', '--confirm', 'prod', ...words], {
    failpoint: 'remove-sessions:removing#2=stop',
  })
  await begun.untilStopped()
  begun.child.kill('SIGINT')
  begun.child.kill('SIGTERM')
  begun.goOn()
  const ended = await begun.ended
  const said = /interrupted by SIG(INT|TERM) again: testops-admin stopped at\s+once,\s+without\s+finishing\s+its\s+work/
  expect([ended.code, ended[where]]).toEqual([6, expect.stringMatching(said)])
  if (words.length > 0)
    expect(errorOf(ended)).toMatchObject({
      code: 'INTERRUPTED',
      suggestions: [
        'testops-admin history -d prod',
        'testops-admin resume -d prod   # if `testops-admin history` lists an unfinished run',
      ],
    })
  expect(endOf(await someone.run(['resume', '--json']))).toMatchObject({ code: 0, outcome: 'done' })
  expect(await client.dbsize()).toBe(0)
})

test('two operators: the second is told who is at work', async () => {
  const database = await freshDatabase()
  onTestFinished(async () => database.cleanup())
  const url = new URL(database.url)
  const { client, someone } = await ownStore({
    database: {
      url: `postgresql://${url.username}@${url.host}${url.pathname}`,
      password: { env: 'DATABASE_PASSWORD' },
    },
  })
  await writeMany(client, 100)
  const env = { DATABASE_PASSWORD: url.password }
  const other = await someone.elsewhere()
  const begun = someone.begin(['flush-sessions', '--confirm', 'prod', '--json'], {
    failpoint: 'remove-sessions:counted=stop',
    env,
  })
  await begun.until('remove all sessions')
  await new Promise((resolve) => setTimeout(resolve, 300))
  const second = await other.repair(['flush-sessions'], { env })
  expect([second.code, documentOf(second).error?.code, await client.dbsize()]).toEqual([5, 'BUSY', 100])
  begun.goOn()
  expect(endOf(await begun.ended)).toMatchObject({ code: 0, outcome: 'done' })
})
