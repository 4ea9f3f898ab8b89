import { describe, expect, test } from 'vitest'
import type { ActionKind } from '../../../src/core/action.ts'
import type { RepairDocument } from '../../../src/core/repair.ts'
import { undoInstantsOf } from '../support/failpoints.ts'
import type { Ended } from '../support/operator.ts'
import { planned } from './kinds.ts'
import { madeDurable, queueDeployment, withoutRepetitions } from './own-broker.ts'
import type { Beans, QueueDeployment, State } from './own-broker.ts'
import { decisive } from '../../support/campaign.ts'

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
  {
    kind: 'full, and refuses more',
    arguments: { 'x-max-length': count, 'x-overflow': 'reject-publish' },
    isBounded: true,
  },
  {
    kind: 'full, and drops its oldest for more',
    arguments: { 'x-max-length': count, 'x-overflow': 'drop-head' },
    isBounded: true,
  },
  {
    kind: 'full by bytes, and refuses more',
    arguments: { 'x-max-length-bytes': 3 * count, 'x-overflow': 'reject-publish' },
    isBounded: true,
  },
  {
    kind: 'full by bytes, and drops its oldest for more',
    arguments: { 'x-max-length-bytes': 3 * count },
    isBounded: true,
  },
  { kind: 'by priority', arguments: { 'x-max-priority': 5 }, isBounded: false },
  { kind: 'gone with its last reader', arguments: {}, autoDelete: true, isBounded: false },
  {
    kind: 'gone with its last reader, and full',
    arguments: { 'x-max-length': count, 'x-overflow': 'reject-publish' },
    autoDelete: true,
    isBounded: true,
  },
  { kind: 'gone without a reader for a time', arguments: { 'x-expires': 600_000 }, isBounded: false },
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

/** The steps of such a plan. A queue that goes without a reader is held open before the service is stopped. */
function stepsOf({ autoDelete, arguments: values }: Kind): readonly ActionKind[] {
  const isHeldOpen = autoDelete === true || 'x-expires' in values
  return isHeldOpen
    ? planned.flatMap((kind): ActionKind[] => (kind === 'stop-service' ? ['keep-queues', kind] : [kind]))
    : planned
}

/** How a run ends early, on the way there and on the way back. */
const begins: readonly (readonly Cut[])[] = [
  [killed(reset, 'move-messages:published#2')],
  [killed(reset, 'move-messages:acked')],
  [stopped(reset, 'move-messages:published#2')],
  [killed(reset, 'delete-queues:intended')],
  [killed(reset, 'delete-queues:deleted')],
  [killed(reset, 'switch-exchanges:deleted')],
  [killed(reset, 'redeclare-queues:after')],
  // once messages are on their way back, which is another step of the same kind
  ...['published#2', 'confirmed', 'acked'].map((instant) => [
    killed(reset, 'redeclare-queues:after'),
    killed(['resume'], `move-messages:${instant}`),
  ]),
  [killed(reset, 'delete-held:before')],
  [killed(reset, 'end:before')],
]

/** Steps that such a run has come to, so that its undo has something to take back of them. */
function reachedBy(begun: readonly Cut[], of: Kind): readonly ActionKind[] {
  const steps = stepsOf(of)
  const [kind = ''] = begun.at(-1)!.at.split(':')
  if (kind === 'end') return steps
  const place = begun.length > 1 ? steps.lastIndexOf(kind as ActionKind) : steps.indexOf(kind as ActionKind)
  return steps.slice(0, begun.at(-1)!.at.endsWith(':before') ? place : place + 1)
}

interface Case {
  title: string
  of: Kind
  begun: readonly Cut[]
  /** ways in which the undo ends early, one after the other; a place that it does not come by is passed */
  undo: readonly string[]
  how: Cut['how']
  /** who goes on with it in between */
  by: 'undo' | 'resume' | 'each in turn'
}

const ways = ['undo', 'resume', 'each in turn'] as const

/**
 * Each instant of each undo on each kind of queue, after two of the runs that come so far. Kinds take turns, so that
 * the first of them are of all.
 */
const all = undoInstantsOf([...new Set(stepsOf({ ...kinds[0]!, autoDelete: true }))]).flatMap((first, at) =>
  [0, 1].flatMap((round) =>
    kinds.flatMap((of, place): Case[] => {
      const [kind = ''] = first.split(':')
      // one that is gone with its last reader is not there any more to be deleted
      const fitting = begins.filter(
        (begun) =>
          reachedBy(begun, of).includes(kind as ActionKind) &&
          !(of.autoDelete && begun[0]!.at.startsWith('delete-queues')),
      )
      const turn = place + at + round
      const begun = fitting[(at + place * 2 + round * Math.ceil(fitting.length / 2)) % fitting.length]
      if (!begun) return []
      const instants = undoInstantsOf([...new Set(reachedBy(begun, of))])
      const [second, third] = [instants[(turn * 5 + 1) % instants.length]!, instants[(turn * 7 + 3) % instants.length]!]
      const undo = [first, second, third].slice(0, 1 + (turn % 3))
      const how = turn % 4 === 0 ? 'Ctrl-C' : 'kill'
      const by = ways[(turn + round) % ways.length]!
      const title =
        `${of.kind}, after ${begun.map((it) => `${it.how} at ${it.at}`).join(' and ')}, by ${how} at ` +
        `${undo.join(', ')}, and then ${by}`
      return [{ title, of, begun, undo, how, by }]
    }),
  ),
)

function declared({ arguments: values, autoDelete = false }: Kind): Beans {
  return {
    exchanges: [{ name: 'work', type: 'topic' }],
    queues: [{ name: 'full', arguments: values, autoDelete }],
    bindings: [{ exchange: 'work', queue: 'full', routingKey: 'upload.#' }],
  }
}

/** What a kill may cost, and only that: a queue that goes with its last reader, while this program is its only one. */
function mayCost({ how, words, at }: Cut, { autoDelete }: Kind, begun: readonly Cut[]): boolean {
  if (autoDelete !== true || how === 'Ctrl-C') return false
  const [kind = ''] = at.split(':')
  if (words === reset) return kind === 'move-messages'
  const isRedeclared = reachedBy(begun, { kind: '', arguments: {}, autoDelete, isBounded: false }).includes(
    'redeclare-queues',
  )
  return (
    at.includes(':undo-') &&
    isRedeclared &&
    ['start-service', 'delete-held', 'move-messages', 'redeclare-queues'].includes(kind)
  )
}

/** All texts that are anywhere, in the queue or in those in which messages wait. */
async function present({ connect, vhost, texts }: QueueDeployment): Promise<ReadonlySet<string>> {
  // what a killed program had not acknowledged is back in its place
  const connection = await connect()
  await connection.close()
  const held = async (): Promise<string[]> => {
    const listed = (await vhost.manage('GET', `/api/queues/${vhost.vhost}?columns=name`)) as { name: string }[]
    const names = listed.map(({ name }) => name).filter((name) => !name.startsWith('testops-admin.run.'))
    return (await Promise.all(names.map(texts))).flat().sort()
  }
  let before = await held()
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const now = await held()
    if (now.length === before.length) return new Set(now)
    before = now
  }
}

// one at a time: each is up to seven programs, one after the other, and five such cases at once starve each other
describe('an undo that ends early, and is gone on with:', () => {
  test.each(decisive(all, 3).map((one) => [one.title, one] as const))(
    '%s',
    async (_, { of, begun, undo, how, by }) => {
      const own = await queueDeployment('3', { declares: declared(of) })
      let left: readonly string[] = distinct
      const cut = async (one: Cut, options?: { isPassed: boolean }): Promise<Ended> => {
        const ended = await cutOff(own, one, options)
        if (!mayCost(one, of, begun) || ended.signal !== 'SIGKILL') return ended
        const those = await present(own)
        left = left.filter((text) => those.has(text))
        return ended
      }
      try {
        await own.fill('full', distinct)
        const before = await own.state()
        for (const it of begun) await cut(it)
        const run = await runOf(own)
        let ended: Ended | null = null
        for (const [turn, at] of undo.entries()) {
          const isResumed = ended !== null && (by === 'resume' || (by === 'each in turn' && turn % 2 === 1))
          ended = await cut({ how, words: isResumed ? ['resume'] : ['undo', run], at }, { isPassed: true })
          if (ended.code === 0) break
        }
        let last = ended?.code === 0 ? ended : await own.operator.repair(['undo', run])
        // what a kill has cost is told once
        if (last.code === 6 && left.length < distinct.length) {
          expect(last.json<RepairDocument>().error?.message).toMatch(
            new RegExp(
              '^(Queue full(: 300 messages moved aside| had 300 messages when the move was interrupted)|' +
                String.raw`\d+ messages? had been moved back to queue full when)`,
            ),
          )
          last = await own.operator.repair(['undo', run])
        }
        const told = `${last.stderr}${last.stdout}`
        expect(last.code, told).toBe(0)
        const after = await own.state()
        const wanted = holding(before, left)
        expect({ state: of.isBounded ? after : withoutRepetitions(after) }, told).toEqual({ state: wanted })
        const anew = await own.operator.repair(reset)
        expect({ code: anew.code, state: withoutRepetitions(await own.state()) }, anew.stderr).toEqual({
          code: 0,
          state: madeDurable(wanted),
        })
        const loses = anew.json<RepairDocument>().plan.steps.map((step) => step.loses ?? '')
        expect(loses.some((text) => /^full with all messages, if testops-admin is killed/.test(text))).toBe(
          of.autoDelete === true || 'x-expires' in of.arguments,
        )
      } finally {
        await own.end()
      }
    },
    240_000,
  )
})

function holding(state: State, texts: readonly string[]): State {
  return { ...state, queues: { ...state.queues, full: { ...state.queues['full']!, texts: [...texts] } } }
}

describe.concurrent('an undo of two at once', () => {
  test.each(['move-messages:undo-published', 'delete-queues:undo-published'])(
    'the second is told who is at work, and the first goes on: %s',
    async (at) => {
      const own = await queueDeployment('3', { declares: declared(kinds[1]!) })
      try {
        await own.fill('full', distinct)
        const before = await own.state()
        await own.operator.killedAt('redeclare-queues:after', reset)
        await own.operator.killedAt('move-messages:acked', ['resume'])
        const run = await runOf(own)
        const first = own.operator.begin(['undo', run, '--confirm', own.deployed.name, '--json'], {
          failpoint: `${at}=stop`,
        })
        await first.untilStopped()
        const second = await own.operator.repair(['undo', run])
        first.goOn()
        expect([second.code, (await first.ended).code], second.stdout).toEqual([5, 0])
        expect(await own.state()).toEqual(before)
      } finally {
        await own.end()
      }
    },
  )
})

async function cutOff(
  { operator, deployed }: QueueDeployment,
  { how, words, at }: Cut,
  { isPassed = false } = {},
): Promise<Ended> {
  if (how === 'kill') {
    const ended = await operator.repair(words, { failpoint: at })
    if (ended.signal === 'SIGKILL' || isPassed) return ended
    throw new Error(
      `${words.join(' ')} was to be killed at ${at}, and ended with ${ended.code}: ${ended.stderr}${ended.stdout}`,
    )
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
