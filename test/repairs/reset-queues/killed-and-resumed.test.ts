import { describe, expect, test } from 'vitest'
import { actionKinds } from './kinds.ts'
import { failpointsOf, undoFailpointsOf } from '../support/failpoints.ts'
import { madeDurable, queueDeployment, withoutRepetitions } from './own-broker.ts'
import type { QueueDeployment, State } from './own-broker.ts'
import { foreign } from '../support/operator.ts'
import { inner, isCampaign, spread } from '../../support/campaign.ts'

/**
 * Within each action, and of each either before or after it; in the campaign both, and every instant of the run around
 * them, which the other repairs are killed at as well. What is done twice (aside and back) is killed on the way back
 * too: at the third queue, since two hold messages, or in the second note.
 */
const points = failpointsOf(actionKinds)
  .filter((name) => {
    const [kind = '', instant = ''] = name.split(':')
    if (isCampaign) return true
    if (!actionKinds.some((it) => it === kind) || instant === 'before') return false
    return (
      instant === (actionKinds.findIndex((it) => it === kind) % 2 === 0 ? 'intended' : 'after') ||
      !['intended', 'after'].includes(instant)
    )
  })
  .flatMap((name) =>
    name.startsWith('move-messages:')
      ? [name, `${name}#${/:(before|intended|after|noted)$/.test(name) ? 2 : 3}`]
      : [name],
  )
/** the deployment has no copy of the journal yet, which another machine could adopt */
const nowhereElse = 'begin:recorded'
/** how one goes on after a kill: each is tried at every third instant */
const ways = ['resume', 'resume --adopt, on another machine', 'undo'] as const

const texts = { upload: ['1', '2', '3', '4', '5'], export: ['a', 'b'] }

async function broken(): Promise<{ own: QueueDeployment; before: State }> {
  const own = await queueDeployment('3')
  for (const [queue, all] of Object.entries(texts)) await own.fill(queue, all)
  return { own, before: await own.state() }
}

async function goOn({ operator }: QueueDeployment, way: (typeof ways)[number], run: string): Promise<number | null> {
  if (way === 'undo') return (await operator.repair(['undo', run])).code
  if (way === 'resume') return (await operator.run(['resume', '--json'])).code
  return (await (await operator.elsewhere()).repair(['resume', '--adopt', run, ...foreign])).code
}

describe.concurrent('killed', () => {
  test.each(
    ways.flatMap((way, place) =>
      inner(spread(points, ways.length, place), 4)
        .filter((point) => !(point === nowhereElse && way.includes('--adopt')))
        .map((point) => ({ point, way })),
    ),
  )('at $point, then $way', async ({ point, way }) => {
    const { own, before } = await broken()
    try {
      await own.operator.killedAt(point, ['reset-queues', '--drain', '0'])
      const { runs } = (await own.operator.run(['history', '--json'])).json<{
        runs: { run: string; state: string }[]
      }>()
      const [run] = runs
      const isOver = run === undefined || run.state !== 'unfinished'
      // one that is over needs nothing but that its traces are removed; one that was not begun is begun anew
      const words = run === undefined ? ['reset-queues', '--drain', '0', '--confirm', 'prod'] : ['resume', run.run]
      const code = isOver ? (await own.operator.run(words)).code : await goOn(own, way, run.run)
      const isTakenBack = !isOver && way === 'undo' && run !== undefined
      expect({ code, state: withoutRepetitions(await own.state()) }).toEqual({
        code: 0,
        state: isTakenBack ? before : madeDurable(before),
      })
    } finally {
      await own.end()
    }
  })

  test.each(inner(undoFailpointsOf(actionKinds, ['start-service']), 4))(
    'an undo at %s, then undo again',
    async (point) => {
      const { own, before } = await broken()
      try {
        const done = await own.operator.repair(['reset-queues', '--drain', '0'])
        expect(done.code).toBe(0)
        const { run } = done.json<{ run: string }>()
        await own.operator.killedAt(point, ['undo', run])
        const again = await own.operator.repair(['undo', run])
        expect({ code: again.code, state: withoutRepetitions(await own.state()) }).toEqual({ code: 0, state: before })
      } finally {
        await own.end()
      }
    },
  )
})
