import { describe, expect, test } from 'vitest'
import type { Step } from '../../../src/core/plan.ts'
import type { RunHistory } from '../../../src/core/run.ts'
import type { BrokerQueue, BrokerSource } from '../../../src/core/sources.ts'
import { eventOf } from '../../engine/repairing.ts'
import { exchange, fakeBroker, fakeService, queue } from '../../fakes/index.ts'
import {
  binding,
  changed,
  discarding,
  events,
  held,
  ranTo,
  reset,
  resetSteps,
  transient,
  unfitOf,
  uploads,
  withBinding,
} from './records.ts'
import type { Given } from './records.ts'

const stopped = fakeService({ status: { state: 'stopped', detail: 'inactive (dead)', instances: [] } })
const switched = { ...events, durable: true }
const anew = queue({ ...uploads, durable: true })
const asItWas = fakeBroker({ queues: [uploads], exchanges: [events], bindings: [binding] })
const deleted = fakeBroker({ queues: [held], exchanges: [events], bindings: [] })
const without = (name: 'queue' | 'exchange', ...queues: readonly BrokerQueue[]): BrokerSource =>
  fakeBroker({
    queues: name === 'queue' ? queues : [...queues, held],
    exchanges: name === 'queue' ? [events] : [],
    bindings: [],
  })
const passing = queue({ ...uploads, autoDelete: true })

describe('a run of this program fits wherever it is stopped', () => {
  const discards = resetSteps({ discards: true })
  test.each<[what: string, RunHistory, Given]>([
    [
      'before its messages are moved',
      reset(resetSteps(), ranTo('move-messages')),
      { broker: asItWas, service: stopped },
    ],
    ['while queues are deleted', reset(resetSteps(), ranTo('delete-queues')), { broker: asItWas, service: stopped }],
    ['once they are deleted', reset(resetSteps(), ranTo('switch-exchanges')), { broker: deleted, service: stopped }],
    [
      'between the deletion of an exchange and its declaration',
      reset(resetSteps(), ranTo('switch-exchanges')),
      { broker: without('exchange'), service: stopped },
    ],
    [
      'before an exchange is bound again',
      reset(resetSteps(), ranTo('switch-exchanges')),
      { broker: fakeBroker({ queues: [held], exchanges: [switched], bindings: [] }), service: stopped },
    ],
    [
      'before a queue is bound again',
      reset(resetSteps(), ranTo('redeclare-queues')),
      { broker: fakeBroker({ queues: [held, anew], exchanges: [switched], bindings: [] }), service: stopped },
    ],
    [
      'once no messages wait',
      reset(resetSteps(), ranTo('delete-held')),
      { broker: fakeBroker({ queues: [anew], exchanges: [switched], bindings: [binding] }), service: stopped },
    ],
    [
      'while the service declares a queue itself',
      reset(
        changed('redeclare-queues', ({ queues }) => ({ queues: queues.map(({ always: _, ...it }) => it) })),
        ranTo('start-service'),
      ),
      { broker: fakeBroker({ queues: [], exchanges: [switched], bindings: [] }) },
    ],
    [
      'while a queue is put back',
      reset(resetSteps(), ranTo('delete-queues', ['intent', 'undo-intent'])),
      { broker: fakeBroker({ queues: [held, uploads], exchanges: [events], bindings: [] }), service: stopped },
    ],
    [
      'while an exchange is put back',
      reset(resetSteps(), ranTo('switch-exchanges', ['intent', 'done', 'undo-intent'])),
      { broker: fakeBroker({ queues: [held], exchanges: [events], bindings: [] }), service: stopped },
    ],
    [
      'once a queue has vanished with the service',
      reset(resetSteps({ queue: passing }), ranTo('await-quiet', ['intent'], resetSteps({ queue: passing }))),
      { broker: deleted, service: stopped },
    ],
    ['before messages are deleted', discarding(4), { broker: asItWas }],
    [
      'once they are deleted with their queue',
      discarding(4, { ran: ranTo('redeclare-queues', ['intent'], discards) }),
      { broker: fakeBroker({ queues: [], exchanges: [switched], bindings: [] }), service: stopped },
    ],
    [
      'once their queue is back without them',
      discarding(4, { ran: ranTo('delete-queues', ['intent', 'done', 'undo-intent', 'undone'], discards) }),
      {
        broker: fakeBroker({ queues: [{ ...uploads, messages: 0 }], exchanges: [events], bindings: [binding] }),
        service: stopped,
      },
    ],
    [
      'with a binding to an exchange of the broker',
      reset(withBinding(resetSteps(), { ...binding, source: 'amq.topic' })),
      {
        broker: fakeBroker({
          queues: [uploads],
          exchanges: [events],
          bindings: [binding, { ...binding, source: 'amq.topic' }],
        }),
      },
    ],
    [
      'with a binding to a queue that went with the service',
      reset(withBinding(resetSteps(), { ...binding, destination: 'spring.gen-1' }), ranTo('switch-exchanges')),
      { broker: deleted, service: stopped },
    ],
  ])('%s', async (_, it, sources) => expect(await unfitOf(it, sources)).toEqual([]))
})

describe('an exchange is that of the broker', () => {
  const notAsRecorded = /^the declaration of exchange events differs from the saved record$/
  test.each([
    ['arguments', { arguments: { 'alternate-exchange': 'mine' } }],
    ['mark as internal', { internal: true }],
    ['mark as auto-delete', { autoDelete: true }],
    ['type', { type: 'fanout' }],
  ])('and has no other %s in the record', async (_, of) => {
    for (const it of [reset(), reset(resetSteps(), ranTo('switch-exchanges'))]) {
      expect(
        (
          await unfitOf(it, {
            broker: fakeBroker({ queues: [uploads], exchanges: [{ ...events, ...of }], bindings: [binding] }),
          })
        )[0],
      ).toMatch(notAsRecorded)
    }
  })

  const tap = exchange({ name: 'tap', durable: false })
  const declared = { name: tap.name, type: tap.type, durable: false, autoDelete: false, internal: false, arguments: {} }
  const withTap = (): Step[] =>
    withBinding(
      changed(
        'hold-queues',
        ({ saved }) => ({ saved: { ...saved, exchanges: [...saved.exchanges, declared] } }),
        changed('switch-exchanges', ({ exchanges }) => ({
          exchanges: [...exchanges, { from: declared, to: { ...declared, durable: true } }],
        })),
      ),
      { source: 'events', destination: 'tap', destinationKind: 'exchange', routingKey: '#', arguments: {} },
    )
  test.each<[what: string, RunHistory, Given, said: RegExp]>([
    [
      'in a run that has done nothing',
      reset(withTap()),
      { broker: asItWas },
      /^exchange tap is missing, but according to the saved record it should exist$/,
    ],
    [
      'before the step that switches it',
      reset(withTap(), ranTo('move-messages')),
      { broker: asItWas, service: stopped },
      /^exchange tap is missing, but according to the saved record it should exist$/,
    ],
    [
      'where nothing of a run stands',
      reset(withTap(), ranTo('switch-exchanges')),
      { broker: asItWas },
      /^exchange tap is missing, and nothing shows that it ever existed$/,
    ],
    [
      'once it would have been declared again',
      reset(withTap(), ranTo('switch-exchanges', ['intent', 'done'])),
      { broker: deleted, service: stopped },
      /^exchange tap is missing, but according to the saved record it should exist$/,
    ],
  ])('and not a new one: %s', async (_, it, sources, said) =>
    expect(await unfitOf(it, sources)).toContainEqual(expect.stringMatching(said)),
  )

  test('and is not durable before the step that makes it so', async () => {
    expect(
      await unfitOf(reset(), { broker: fakeBroker({ queues: [uploads], exchanges: [switched], bindings: [binding] }) }),
    ).toEqual(['exchange events is durable, but according to the saved record it should be transient'])
  })
})

describe('bindings are those of the broker', () => {
  const orders = queue({ name: 'orders' })
  const more = { ...binding, routingKey: '#' }
  const toOrders = { ...more, destination: 'orders' }
  const given = (of: Partial<{ exchange: typeof events; upload: typeof uploads }> = {}): Given => ({
    broker: fakeBroker({
      queues: [of.upload ?? uploads, orders, held],
      exchanges: [of.exchange ?? events],
      bindings: [binding],
    }),
    service: stopped,
  })
  test.each<[what: string, RunHistory, Given, said: RegExp]>([
    [
      'one more to its own queue',
      reset(withBinding(resetSteps(), more)),
      given(),
      /^the binding of queue upload to events is missing, or differs from the saved record$/,
    ],
    [
      'one more to a queue of others',
      reset(withBinding(resetSteps(), toOrders)),
      given(),
      /^the binding of queue orders to events is missing, or differs from the saved record$/,
    ],
    [
      'the same, while exchanges are switched, of one that is still there',
      reset(withBinding(resetSteps(), toOrders), ranTo('switch-exchanges')),
      given(),
      /^the binding of queue orders to events is missing, or differs from the saved record$/,
    ],
    [
      'the same, once it is switched',
      reset(withBinding(resetSteps(), toOrders), ranTo('start-service')),
      given({ exchange: switched, upload: anew }),
      /^the binding of queue orders to events is missing, or differs from the saved record$/,
    ],
    [
      'one of a note',
      reset(resetSteps(), [
        ...ranTo('switch-exchanges'),
        eventOf({ event: 'noted', step: 7, note: JSON.stringify([toOrders]) }),
      ]),
      given(),
      /^the binding of queue orders to events is missing, or differs from the saved record$/,
    ],
    [
      'one in one step alone',
      reset(changed('redeclare-queues', ({ bindings }) => ({ bindings: [...bindings, more] }))),
      given(),
      /^the steps of the run disagree about the bindings of its queues and exchanges$/,
    ],
    [
      'one less',
      reset(
        changed(
          'hold-queues',
          ({ saved }) => ({ saved: { ...saved, bindings: [] } }),
          changed(
            'start-service',
            () => ({ binds: [] }),
            changed(
              'switch-exchanges',
              () => ({ bindings: [] }),
              changed(
                'delete-queues',
                () => ({ bindings: [] }),
                changed('redeclare-queues', () => ({ bindings: [] })),
              ),
            ),
          ),
        ),
      ),
      given(),
      /^the saved record lacks the binding of queue upload to events$/,
    ],
  ])('%s', async (_, it, sources, said) =>
    expect(await unfitOf(it, sources)).toContainEqual(expect.stringMatching(said)),
  )
})

describe('a queue that is not there was deleted by the run', () => {
  const unproven = /^queue upload is missing, and nothing shows that it ever existed$/
  const early = /^queue upload is missing, but according to the saved record it should exist$/
  test.each<[what: string, RunHistory, Given, said: RegExp]>([
    ['nothing is on record', reset(), { broker: without('queue') }, early],
    [
      'nothing is on record, and a queue of its name holds messages',
      reset(),
      { broker: deleted, service: stopped },
      early,
    ],
    [
      'its deletion was not begun',
      reset(resetSteps(), ranTo('move-messages')),
      { broker: deleted, service: stopped },
      early,
    ],
    [
      'it was undone',
      reset(resetSteps(), ranTo('delete-queues', ['intent', 'done', 'undo-intent', 'undone'])),
      { broker: deleted, service: stopped },
      early,
    ],
    [
      'no queue holds its messages',
      reset(resetSteps(), ranTo('switch-exchanges')),
      { broker: without('queue'), service: stopped },
      unproven,
    ],
    [
      'the service runs, and no messages wait',
      reset(resetSteps(), ranTo('delete-held')),
      { broker: without('queue') },
      unproven,
    ],
    [
      'the service has started, and declared its queues',
      reset(resetSteps(), ranTo('start-service')),
      {
        broker: fakeBroker({
          queues: [],
          exchanges: [switched],
          bindings: [],
          connectionsOf: [{ name: 'a', clientName: null, user: 'testops', isListed: true }],
        }),
      },
      unproven,
    ],
    [
      'it was to be declared in any case',
      reset(resetSteps(), ranTo('start-service')),
      { broker: fakeBroker({ queues: [], exchanges: [switched], bindings: [] }), service: stopped },
      /^queue upload is missing, but the saved record says that the run redeclared it$/,
    ],
    [
      'it would vanish, and nothing was begun',
      reset(resetSteps({ queue: passing })),
      { broker: deleted, service: stopped },
      early,
    ],
    [
      'it would be discarded under a running service',
      discarding(4, { ran: ranTo('redeclare-queues', ['intent'], resetSteps({ discards: true })) }),
      { broker: fakeBroker({ queues: [], exchanges: [switched], bindings: [] }) },
      unproven,
    ],
  ])('but not where %s', async (_, it, sources, said) =>
    expect(await unfitOf(it, sources)).toContainEqual(expect.stringMatching(said)),
  )
})

describe('a queue that is there', () => {
  test.each<[what: string, RunHistory, Given, said: RegExp]>([
    [
      'is not durable before it was deleted',
      reset(),
      { broker: fakeBroker({ queues: [anew], exchanges: [events], bindings: [binding] }) },
      /^queue upload is durable, but according to the saved record it should be transient$/,
    ],
    [
      'has the arguments that an undo would give it',
      reset(
        resetSteps({ queue: { ...uploads, arguments: { 'x-dead-letter-exchange': 'mine' } } }),
        ranTo('start-service'),
      ),
      { broker: fakeBroker({ queues: [anew], exchanges: [switched], bindings: [binding] }) },
      /^the declaration of durable queue upload differs from the saved record$/,
    ],
    [
      'is of no connection alone',
      reset(),
      { broker: fakeBroker({ queues: [{ ...uploads, exclusive: true }], exchanges: [events], bindings: [binding] }) },
      /^the declaration of queue upload differs from the saved record$/,
    ],
    [
      'keeps each argument that the broker takes',
      reset(
        changed('redeclare-queues', ({ queues }) => ({
          queues: queues.map((it) => ({ ...it, queue: { ...it.queue, arguments: {} } })),
        })),
      ),
      { broker: asItWas },
      /^the run redeclares queue upload without its argument x-max-priority$/,
    ],
    [
      'is marked to be declared where it is declared',
      reset(
        changed('delete-queues', ({ queues }) => ({ queues: queues.map((it) => ({ ...it, always: true as const })) })),
      ),
      { broker: asItWas },
      /^a step of the saved record marks queues to be redeclared, but that step does not redeclare queues$/,
    ],
    [
      'is waited for',
      reset(changed('await-quiet', () => ({ queues: [] }))),
      { broker: asItWas },
      /^the run waits until nobody reads from its queues, but then deletes other queues$/,
    ],
    [
      'gets a queue to hold its messages',
      reset(resetSteps().slice(2)),
      { broker: asItWas },
      /^reset-queues never has these steps/,
    ],
  ])('%s', async (_, it, sources, said) =>
    expect(await unfitOf(it, sources)).toContainEqual(expect.stringMatching(said)),
  )

  test('may lack what newer brokers refuse', async () => {
    const old = queue({ ...uploads, arguments: { ...transient.arguments, 'x-queue-version': 1 } })
    const steps = changed(
      'redeclare-queues',
      ({ queues }) => ({
        queues: queues.map((it) => ({ ...it, queue: { ...it.queue, arguments: transient.arguments } })),
      }),
      resetSteps({ queue: old }),
    )
    const at = (version: string): Given => ({
      broker: fakeBroker({
        queues: [old],
        exchanges: [events],
        bindings: [binding],
        identity: { product: 'RabbitMQ', version },
      }),
    })
    expect(await unfitOf(reset(steps), at('4.3.6'))).toEqual([])
    expect(await unfitOf(reset(steps), at('3.13.7'))).toEqual([
      'the run redeclares queue upload without its argument x-queue-version',
    ])
  })
})

describe('messages that are deleted', () => {
  const { loses: _, ...silent } = resetSteps({ discards: true }).find(({ action }) => action.kind === 'delete-queues')!
  const untold = {
    ...discarding(4),
    record: {
      ...discarding(4).record,
      plan: {
        ...discarding(4).record.plan,
        steps: resetSteps({ discards: true }).map((it) => (it.action.kind === 'delete-queues' ? silent : it)),
      },
    },
  }
  const intended = ranTo('delete-queues', ['intent'], resetSteps({ discards: true }))
  test.each<[what: string, RunHistory, Given, said: RegExp]>([
    [
      'are told as lost',
      untold,
      { broker: asItWas },
      /^the plan of the run does not say correctly whether messages are lost$/,
    ],
    [
      'are not told as lost by a blank',
      discarding(4, { of: { loses: ' ' } }),
      { broker: asItWas },
      /^the plan of the run does not say correctly whether messages are lost$/,
    ],
    [
      'are shown in their number',
      discarding(1e6, { shown: 4 }),
      { broker: asItWas },
      /^the plan of the run shows 4 messages as lost, but its steps delete up to 1000000$/,
    ],
    [
      'are no more than there are',
      discarding(1e6),
      { broker: asItWas },
      /^the run deletes up to .* messages, but its queues contain 4$/,
    ],
    [
      'are no more than there are, as long as no queue was deleted',
      discarding(1e6, { ran: intended }),
      { broker: asItWas, service: stopped },
      /^the run deletes up to .* messages, but its queues contain 4$/,
    ],
    [
      'are counted once',
      reset(changed('delete-queues', () => ({ counts: { messages: 1e6 } }))),
      { broker: asItWas },
      /^the steps of the run disagree about the number of messages, or the number is invalid$/,
    ],
  ])('%s', async (_, it, sources, said) =>
    expect(await unfitOf(it, sources)).toContainEqual(expect.stringMatching(said)),
  )
})
