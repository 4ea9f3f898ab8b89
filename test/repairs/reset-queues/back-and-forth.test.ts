import { describe, expect, test } from 'vitest'
import { isCampaign, spread } from '../support/failpoints.ts'
import type { Ended } from '../support/operator.ts'
import { madeDurable, queueDeployment, withoutRepetitions } from './own-broker.ts'
import type { Beans, QueueDeployment } from './own-broker.ts'

/** more than are asked for at first, so that it ends between batches too */
const count = 300
/** of three digits each */
const distinct = Array.from({ length: count }, (_, index) => String(index + 100))

interface Kind {
  kind: string
  arguments: Record<string, unknown>
  autoDelete?: boolean
  /** it is full, so that not one message may come twice */
  isBounded: boolean
}

const kinds: readonly Kind[] = [
  { kind: 'plain', arguments: {}, isBounded: false },
  { kind: 'full, and refuses more', arguments: { 'x-max-length': count, 'x-overflow': 'reject-publish' }, isBounded: true },
  { kind: 'full, and drops its oldest for more', arguments: { 'x-max-length': count, 'x-overflow': 'drop-head' }, isBounded: true },
  { kind: 'full by bytes, and refuses more', arguments: { 'x-max-length-bytes': 3 * count, 'x-overflow': 'reject-publish' }, isBounded: true },
  { kind: 'full by bytes, and drops its oldest for more', arguments: { 'x-max-length-bytes': 3 * count }, isBounded: true },
  { kind: 'by priority', arguments: { 'x-max-priority': 5 }, isBounded: false },
]

/** A command that ends early: `kill` at that instant, or Ctrl-C while it is under way. */
interface Cut {
  how: 'kill' | 'Ctrl-C'
  words: readonly string[]
  at: string
}

const reset = ['reset-queues', '--drain', '0']
const killed = (words: readonly string[], at: string): Cut => ({ how: 'kill', words, at })
const stopped = (words: readonly string[], at: string): Cut => ({ how: 'Ctrl-C', words, at })

/** How a run ends early, on the way there and on the way back. */
const begins: readonly Cut[] = [
  killed(reset, 'move-messages:published#2'),
  killed(reset, 'move-messages:acked'),
  stopped(reset, 'move-messages:published#2'),
  killed(reset, 'delete-queues:intended'),
  killed(reset, 'delete-queues:deleted'),
  killed(reset, 'redeclare-queues:after'),
]
/** The same once messages are on their way back, which is another step of the same kind. */
const comingBack: readonly (readonly Cut[])[] = ['published#2', 'confirmed', 'acked'].map((instant) => [killed(reset, 'redeclare-queues:after'), killed(['resume'], `move-messages:${instant}`)])
/** Where an undo ends early: of each step that moves messages, wherever it comes by. */
const undoing = [
  ['move-messages:undo-opened', 'move-messages:undo-published#2', 'move-messages:undo-confirmed', 'move-messages:undo-acked', 'move-messages:undo-emptied', 'move-messages:undo-noted'],
  ['delete-queues:undo-opened', 'delete-queues:undo-published#2', 'delete-queues:undo-confirmed', 'delete-queues:undo-acked', 'delete-queues:undo-emptied', 'delete-queues:undo-noted'],
].flat()

interface Case {
  title: string
  of: Kind
  begun: readonly Cut[]
  /** ways in which the undo ends early, one after the other; a place that it does not come by is passed */
  undo: readonly string[]
  how: Cut['how']
  /** who goes on with it in between */
  by: 'undo' | 'resume'
}

const all = kinds.flatMap((of, place): Case[] =>
  [...begins.map((cut) => [cut]), ...comingBack, [killed(reset, 'end:before')]].flatMap((begun, way) =>
    undoing.flatMap((first, at) => {
      const turn = place + way + at
      const [second, third] = [undoing[(turn * 5 + 1) % undoing.length]!, undoing[(turn * 7 + 3) % undoing.length]!]
      const undo = [first, second, third].slice(0, 1 + (turn % 3))
      const how = turn % 4 === 0 ? 'Ctrl-C' : 'kill'
      const title = `${of.kind}, after ${begun.map((it) => `${it.how} at ${it.at}`).join(' and ')}, by ${how} at ${undo.join(', ')}`
      return [{ title, of, begun, undo, how, by: turn % 2 === 0 ? 'undo' : 'resume' }]
    }),
  ),
)

function declared({ arguments: values, autoDelete = false }: Kind): Beans {
  return { exchanges: [{ name: 'work', type: 'topic' }], queues: [{ name: 'full', arguments: values, autoDelete }], bindings: [{ exchange: 'work', queue: 'full', routingKey: 'upload.#' }] }
}

// one at a time: each is up to seven programs, one after the other, and five such cases at once starve each other
describe('an undo that ends early, and is gone on with:', () => {
  test.each(isCampaign ? all : spread(all, 19, 4))('$title', async ({ of, begun, undo, how, by }) => {
    const own = await queueDeployment('3', { declares: declared(of) })
    try {
      await own.fill('full', distinct)
      const before = await own.state()
      for (const it of begun) await cutOff(own, it)
      const run = await runOf(own)
      let ended: Ended | null = null
      for (const at of undo) {
        const words = ended && by === 'resume' ? ['resume'] : ['undo', run]
        ended = await cutOff(own, { how, words, at }, { isPassed: true })
        if (ended.code === 0) break
      }
      const last = ended?.code === 0 ? ended : await own.operator.repair(['undo', run])
      const told = `${last.stderr}${last.stdout}`
      expect(last.code, told).toBe(0)
      const after = await own.state()
      expect({ state: of.isBounded ? after : withoutRepetitions(after) }, told).toEqual({ state: before })
      const anew = await own.operator.repair(reset)
      expect({ code: anew.code, state: withoutRepetitions(await own.state()) }, anew.stderr).toEqual({ code: 0, state: madeDurable(before) })
    } finally {
      await own.end()
    }
  })
})

describe.concurrent('an undo of two at once', () => {
  test.each(['move-messages:undo-published', 'delete-queues:undo-published'])('the second is told who is at work, and the first goes on: %s', async (at) => {
    const own = await queueDeployment('3', { declares: declared(kinds[1]!) })
    try {
      await own.fill('full', distinct)
      const before = await own.state()
      await own.operator.killedAt('redeclare-queues:after', reset)
      await own.operator.killedAt('move-messages:acked', ['resume'])
      const run = await runOf(own)
      const first = own.operator.begin(['undo', run, '--confirm', own.deployed.name, '--json'], { failpoint: `${at}=stop` })
      await first.untilStopped()
      const second = await own.operator.repair(['undo', run])
      first.goOn()
      expect([second.code, (await first.ended).code], second.stdout).toEqual([5, 0])
      expect(await own.state()).toEqual(before)
    } finally {
      await own.end()
    }
  })
})

async function cutOff({ operator, deployed }: QueueDeployment, { how, words, at }: Cut, { isPassed = false } = {}): Promise<Ended> {
  if (how === 'kill') {
    const ended = await operator.repair(words, { failpoint: at })
    if (ended.signal === 'SIGKILL' || isPassed) return ended
    throw new Error(`${words.join(' ')} was to be killed at ${at}, and ended with ${ended.code}: ${ended.stderr}${ended.stdout}`)
  }
  const begun = operator.begin([...words, '--confirm', deployed.name, '--json'], { failpoint: `${at}=stop` })
  const isStopped = await begun.untilStopped().then(
    () => true,
    () => false,
  )
  if (isStopped) {
    begun.child.kill('SIGINT')
    begun.goOn()
  } else if (!isPassed) throw new Error(`${words.join(' ')} was to be stopped at ${at}`)
  return begun.ended
}

async function runOf({ operator }: QueueDeployment): Promise<string> {
  const { runs } = (await operator.run(['history', '--json'])).json<{ runs: { run: string }[] }>()
  return runs[0]!.run
}
