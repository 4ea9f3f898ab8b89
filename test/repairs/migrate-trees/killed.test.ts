import { describe, expect, test } from 'vitest'
import { failpointsOf } from '../support/failpoints.ts'
import { documentOf, endOf, firstTree, freshTrees, treeWords } from './support.ts'
import { foreign } from '../support/operator.ts'
import { decisive, inner } from '../../support/campaign.ts'

const count = 30
const words = ['migrate-trees', ...treeWords(count)]
const done = { code: 0, outcome: 'done', requested: count, accepted: count, skipped: 0, failed: [] }

/** Trees that were taken, and how often at most. */
function most(taken: Record<string, number>): [trees: number, times: number] {
  return [Object.keys(taken).length, Math.max(...Object.values(taken))]
}

describe('killed, and gone on with, each tree is asked for once more at most:', () => {
  // without a broker, the deployment keeps no copy of the journal
  const failpoints = failpointsOf(['migrate-trees']).filter((name) => name !== 'begin:copied')
  const inTheMiddle = ['migrate-trees:asking#15', 'migrate-trees:answered#15', 'migrate-trees:noted#2']
  test.each([...inner(failpoints, 2), ...inTheMiddle])('%s', async (failpoint) => {
    const { someone, taken, plan } = await freshTrees({ more: count })
    // slow enough for several notes
    await plan([{ method: 'POST', path: '/api/project/*/migration', delayMs: 60 }])
    await someone.killedAt(failpoint, words)
    const resumed = await someone.run(['resume', '--json'])
    if (failpoint === 'end:after') expect(resumed.json()).toEqual({ schemaVersion: 1, outcome: 'nothing-to-do' })
    else expect(endOf(resumed)).toEqual(done)
    const [trees, times] = most(await taken())
    expect(trees).toBe(count)
    expect(times).toBeLessThanOrEqual(2)
  })

  test.each(
    decisive(
      failpointsOf(['await-migration']).filter((name) => name.startsWith('await-migration:')),
      2,
    ),
  )('%s', async (failpoint) => {
    const { someone, taken } = await freshTrees({ more: count })
    await someone.killedAt(failpoint, [...words, '--wait'])
    expect(endOf(await someone.run(['resume', '--json']))).toEqual(done)
    expect(most(await taken())).toEqual([count, 1])
  })

  test('what was answered and noted is not asked for again', async () => {
    const { someone, taken, plan } = await freshTrees({ more: count })
    await plan([{ method: 'POST', path: '/api/project/*/migration', delayMs: 300 }])
    await someone.killedAt('migrate-trees:noted#3', [...words, '--concurrency', '1'])
    const before = await taken()
    await plan([])
    expect(endOf(await someone.run(['resume', '--json']))).toEqual(done)
    const after = await taken()
    const again = Object.keys(before).filter((name) => after[name] === 2)
    // the one that was under way
    expect(again.length).toBeLessThanOrEqual(1)
    expect(Object.keys(before).length).toBeGreaterThanOrEqual(3)
    expect(most(after)[0]).toBe(count)
  })

  test('a call whose answer was lost, killed before it was made again: that counts as made', async () => {
    const { someone, taken, plan } = await freshTrees({ more: count })
    await plan([
      { method: 'POST', path: `/api/project/1/test-case/tree/${firstTree}/migration`, times: 1, ending: 'lost' },
    ])
    await someone.killedAt('migrate-trees:announced#2', [...words, '--concurrency', '1'])
    expect(await taken()).toEqual({ [`1/${firstTree}`]: 1 })
    const resumed = await someone.run(['resume', '--json'])
    const message =
      'testops-admin was interrupted before it recorded an answer to this call, which it may have made twice. The ' +
      'service may have accepted it'
    expect(endOf(resumed)).toMatchObject({
      code: 1,
      accepted: count - 1,
      failed: [{ project: 1, tree: firstTree, status: 0, message }],
    })
    expect(most(await taken())).toEqual([count, 1])
  })

  test('on another machine, from the journal that the deployment keeps', async () => {
    const { someone, taken, plan } = await freshTrees({ more: count, broker: true })
    await plan([{ method: 'POST', path: '/api/project/*/migration', delayMs: 60 }])
    await someone.killedAt('migrate-trees:noted#2', words)
    const other = await someone.elsewhere()
    const { runs } = (await other.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
    expect(endOf(await other.repair(['resume', '--adopt', runs[0]!.run, ...foreign]))).toEqual(done)
    const [trees, times] = most(await taken())
    expect([trees, times <= 2]).toEqual([count, true])
  })
})

test('interrupted, it ends half done and says how far it is and how to go on', async () => {
  const { someone, taken, plan } = await freshTrees({ more: count })
  await plan([{ method: 'POST', path: '/api/project/*/migration', delayMs: 100 }])
  const begun = someone.begin([...words, '--confirm', 'prod', '--json'], { failpoint: 'migrate-trees:answered#8=stop' })
  await begun.untilStopped()
  begun.child.kill('SIGINT')
  begun.goOn()
  const ended = await begun.ended
  const { run, accepted, skipped, failed, error } = documentOf(ended)
  expect([ended.code, failed, (accepted ?? 0) + (skipped ?? 0)]).toEqual([6, [], count])
  expect(error).toEqual({
    code: 'INTERRUPTED',
    message: `interrupted by SIGINT after ${accepted} of ${count} calls`,
    suggestions: [
      `testops-admin resume ${run} -d prod`,
      `testops-admin undo ${run} -d prod   # closes the run without undoing its changes`,
    ],
  })
  expect(endOf(await someone.run(['resume', '--json']))).toEqual(done)
  expect(most(await taken())[1]).toBeLessThanOrEqual(2)
})

test('a half done run can be closed without going on with it', async () => {
  const { someone, taken } = await freshTrees({ more: count })
  await someone.killedAt('migrate-trees:asking#15', words)
  const before = await taken()
  const { runs } = (await someone.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
  const closed = await someone.repair(['undo', runs[0]!.run])
  expect([closed.code, closed.stderr]).toEqual([
    0,
    expect.stringContaining('The changes of this run cannot be undone. This command only closes the run.') as string,
  ])
  expect(documentOf(closed)).toMatchObject({ requested: count, failed: [] })
  expect(endOf(await someone.repair(words))).toEqual(done)
  expect(Object.keys(before).length).toBeGreaterThan(0)
})
