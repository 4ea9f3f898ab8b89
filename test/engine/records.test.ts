import { describe, expect, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import type { RunEvent } from '../../src/core/run.ts'
import { forgetFinished, onRecord, standingOf } from '../../src/engine/records.ts'
import type { Journals } from '../../src/core/run.ts'
import { reopenJournal } from '../../src/engine/journal.ts'
import { fakeRunStore } from '../fakes/index.ts'
import { eventOf, machine, recordOf, run, told } from './repairing.ts'
import type { Machines } from './repairing.ts'

const options = { by: 'op@bastion', failpoint: async (): Promise<void> => undefined }
const copied = eventOf({ event: 'copied' })
const intent = eventOf({ event: 'intent', step: 0 }, 1)
const done = eventOf({ event: 'done', step: 0, durationMs: 7 }, 2)
const ended = eventOf({ event: 'ended', outcome: 'done' }, 3)
const other = { ...eventOf({ event: 'intent', step: 0 }, 9), by: 'op@elsewhere' }
const away = new AdminError('UNREACHABLE', 'RabbitMQ at mq.example.org:5672 refused the connection')

type Kept = readonly RunEvent[] | 'none' | 'empty' | 'damaged'

async function kept(here: Kept, there: Kept): Promise<Machines> {
  const journals = machine()
  for (const [store, events] of [
    [journals.here, here],
    [journals.deployment, there],
  ] as const) {
    if (events === 'none') continue
    if (events === 'empty') store.kept.set(run, [])
    else if (events === 'damaged') store.kept.set(run, [{ run, plan: 'lost' }])
    else await store.begin(recordOf(), events)
  }
  return journals
}

async function standing(journals: Journals, adopt: boolean): Promise<string> {
  try {
    const { whole, isGone } = await standingOf(journals, run, { adopt })
    return told(whole).join(', ') + (isGone ? '; gone' : '')
  } catch (error) {
    if (error instanceof AdminError) return `${error.code} ${error.message}`
    throw error
  }
}

describe('the longer of two journals holds', () => {
  test.each<[what: string, here: Kept, there: Kept, plain: RegExp, adopting: RegExp]>([
    ['both the same', [copied, intent], [copied, intent], /^copied, intent 0$/, /^copied, intent 0$/],
    [
      'gone on with elsewhere',
      [copied, intent],
      [copied, intent, done],
      /^copied, intent 0, done 0$/,
      /^copied, intent 0, done 0$/,
    ],
    ['written here alone', [copied, intent], [copied], /^copied, intent 0$/, /^copied, intent 0$/],
    ['finished elsewhere', [copied, intent], [copied, intent, done, ended], /, ended done$/, /, ended done$/],
    [
      'begun elsewhere',
      'none',
      [copied],
      /^USAGE no run .* on record in this machine; the deployment has a copy of the run's record$/,
      /^copied$/,
    ],
    [
      'known nowhere',
      'none',
      'none',
      /^USAGE no run .* on record in this machine$/,
      /^USAGE no run .* on record in the deployment$/,
    ],
    ['never copied', [intent], 'none', /^intent 0$/, /^intent 0$/],
    ['its copy is gone', [copied, intent], 'none', /^copied, intent 0; gone$/, /^copied, intent 0; gone$/],
    ['over, so its copy is gone', [copied, intent, done, ended], 'none', /, ended done$/, /, ended done$/],
    ['killed while the copy was begun', [], 'empty', /^$/, /^$/],
    [
      'killed elsewhere while the copy was begun',
      'none',
      'empty',
      /^REFUSED the deployment holds nothing/,
      /^REFUSED the deployment holds nothing/,
    ],
    [
      'two that tell of different things',
      [copied, intent],
      [copied, other],
      new RegExp(
        '^REFUSED .* begin to differ at event 2: this machine has intent of step 1 at .* by op@bastion, ' +
          'and the deployment has intent of step 1 at .* by op@elsewhere',
      ),
      /^REFUSED .* differ/,
    ],
    [
      'damaged here',
      'damaged',
      [copied],
      /^UNEXPECTED_ANSWER .* is damaged: .*; the deployment has a copy of the run's record$/,
      /^copied$/,
    ],
    [
      'damaged here, and no copy',
      'damaged',
      'none',
      /^UNEXPECTED_ANSWER .* is damaged/,
      /^UNEXPECTED_ANSWER .* is damaged/,
    ],
    [
      'damaged there',
      [copied, intent],
      'damaged',
      /^UNEXPECTED_ANSWER .* in the deployment is damaged/,
      /^UNEXPECTED_ANSWER/,
    ],
  ])('%s', async (_, here, there, plain, adopting) => {
    const journals = await kept(here, there)
    expect(await standing(journals, false)).toMatch(plain)
    expect(await standing(journals, true)).toMatch(adopting)
  })

  test('a deployment that cannot be asked hinders nobody who has a journal', async () => {
    const journals = { ...(await kept([copied, intent], 'none')), there: async () => Promise.reject(away) }
    expect(await standing(journals, false)).toBe('copied, intent 0')
    expect(await standing({ ...journals, here: fakeRunStore('this machine') }, true)).toBe(
      `UNREACHABLE ${away.message}`,
    )
  })

  test('two records of one name are two runs', async () => {
    const journals = await kept([copied], 'none')
    await journals.deployment.begin(recordOf({ by: 'op@elsewhere' }), [copied])
    expect(await standing(journals, false)).toMatch(/^REFUSED .* differ from the start/)
  })

  test('where two journals have come apart, it is said how to decide', async () => {
    const journals = await kept([copied, intent], [copied, other])
    await expect(standingOf(journals, run, { adopt: false })).rejects.toMatchObject({
      suggestions: [
        'testops-admin doctor -d {deployment}',
        `testops-admin discard ${run} -d {deployment}   # moves the deployment's copy of the record into a ` +
          "file, so that resume uses this machine's record",
        `mv 'this machine/${run}' 'this machine/${run}.aside'   # sets this machine's record aside, so that ` +
          "resume uses the deployment's copy; then run:",
        `testops-admin resume --adopt ${run} -d {deployment} --dry-run`,
      ],
    })
  })
})

describe('whoever goes on with a run tells each place what it lacks', () => {
  test.each<[what: string, here: Kept, there: Kept, adopt: boolean, both: string[]]>([
    ['this machine is behind', [copied, intent], [copied, intent, done], false, ['copied', 'intent 0', 'done 0']],
    ['the deployment is behind', [copied, intent, done], [copied], false, ['copied', 'intent 0', 'done 0']],
    ['the deployment had none', [intent], 'none', false, ['intent 0', 'copied']],
    ['an empty copy', [], 'empty', false, ['copied']],
    ['taken over', 'none', [copied, intent], true, ['copied', 'intent 0']],
    ['taken over in place of a damaged one', 'damaged', [copied, intent], true, ['copied', 'intent 0']],
  ])('%s', async (_, here, there, adopt, both) => {
    const journals = await kept(here, there)
    await reopenJournal(journals, await standingOf(journals, run, { adopt }), options)
    expect(told(await journals.here.read(run))).toEqual(both)
    expect(told(await journals.deployment.read(run))).toEqual(both)
  })
})

describe('what is on record', () => {
  const told2 = async (journals: Journals): Promise<unknown[]> =>
    (await onRecord(journals)).all.map((it) => [
      it.isHere,
      it.isGone,
      'record' in it ? told(it).join(', ') : it.unreadable,
    ])

  test.each<[what: string, here: Kept, there: Kept, all: unknown[]]>([
    ['nothing', 'none', 'none', []],
    [
      'a run of this machine that the deployment knows more of',
      [copied],
      [copied, intent],
      [[true, false, 'copied, intent 0']],
    ],
    ['a run whose copy is gone', [copied, intent], 'none', [[true, true, 'copied, intent 0']]],
    ['a run of another machine', 'none', [copied], [[false, false, 'copied']]],
    [
      'a copy that alone says that it is over',
      [copied, intent],
      [copied, intent, done, ended],
      [[true, false, 'copied, intent 0']],
    ],
    [
      'two that came apart',
      [copied, intent],
      [copied, other],
      [[true, false, expect.stringMatching(/begin to differ at event 2/)]],
    ],
    ['a damaged one', 'damaged', 'none', [[true, false, expect.stringMatching(/is damaged/)]]],
    ['a damaged copy', [copied], 'damaged', [[true, false, expect.stringMatching(/in the deployment is damaged/)]]],
  ])('%s', async (_, here, there, all) => expect(await told2(await kept(here, there))).toEqual(all))

  test('a deployment that cannot be asked takes no copy for gone', async () => {
    const journals = { ...(await kept([copied, intent], 'none')), there: async () => Promise.reject(away) }
    expect(await told2(journals)).toEqual([[true, false, 'copied, intent 0']])
  })
})

describe('copies of what is over are removed, and no others', () => {
  test.each<[what: string, here: Kept, there: Kept, isLeft: boolean, isClear?: boolean]>([
    ['over in both places', [copied, intent, done, ended], [copied, intent, done, ended], false],
    ['over here, where the copy was not told of it', [copied, intent, done, ended], [copied, intent], false],
    ['over in the words of the copy alone, and nothing stands', 'none', [copied, intent, done, ended], false],
    ['over in the words of the copy alone, and something stands', 'none', [copied, intent, done, ended], true, false],
    ['unfinished here, and over in the words of the copy alone', [copied, intent], [copied, intent, done, ended], true],
    ['not over', [copied, intent], [copied, intent], true],
    ['gone on with elsewhere since', [copied, ended], [copied, ended, intent], true],
    ['two that came apart', [copied, ended], [copied, other], true],
    ['an empty one', 'none', 'empty', true],
  ])('%s', async (_, here, there, isLeft, isClear = true) => {
    const journals = await kept(here, there)
    await forgetFinished(journals, async () => isClear)
    expect(journals.deployment.kept.has(run)).toBe(isLeft)
  })

  test('a deployment that cannot be asked is left alone', async () => {
    await forgetFinished({ here: fakeRunStore(), there: async () => Promise.reject(away) }, async () => true)
  })
})
