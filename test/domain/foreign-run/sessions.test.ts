import { expect, test } from 'vitest'
import type { ActionOf } from '../../../src/core/action.ts'
import type { RunHistory } from '../../../src/core/run.ts'
import type { SessionCensus, SessionsSource } from '../../../src/core/sources.ts'
import { eventOf } from '../../engine/repairing.ts'
import { fakeSessions } from '../../fakes/index.ts'
import { history, step, unfitOf } from './records.ts'

const none: SessionCensus = {
  namespace: null,
  rivals: [],
  indexed: false,
  sessions: 0,
  present: 0,
  users: null,
  leftovers: 0,
  foreign: 0,
  asOf: 10,
}

/** A store without a configured key space, in which these hold so many sessions or keys that look like some. */
function store(census: Partial<SessionCensus>, keys: Readonly<Record<string, number>> = {}): SessionsSource {
  return fakeSessions({
    census: ({ namespace }) =>
      namespace === null
        ? { ...none, ...census }
        : { ...none, namespace, present: keys[namespace] ?? 0, sessions: keys[namespace] ?? 0 },
  })
}

function removal(of: Partial<ActionOf<'remove-sessions'>>, isBegun = false): RunHistory {
  const action = {
    kind: 'remove-sessions',
    store: 'redis.example.org:6379/0',
    namespace: 'spring:session',
    which: 'all',
    flush: false,
    counts: { sessions: 3, asOf: 1 },
    ...of,
  } as const
  return history(
    'flush-sessions',
    { steps: [step(action, { loses: 'them' })] },
    isBegun ? [eventOf({ event: 'intent', step: 0 })] : [],
  )
}

test.each<[what: string, RunHistory, SessionsSource, said: string[]]>([
  ['the only one', removal({}), store({ namespace: 'spring:session' }), []],
  ['one that is empty by now', removal({}, true), store({}), []],
  [
    'another one than that of the sessions',
    removal({ namespace: 'orders' }),
    store({ namespace: 'spring:session' }, { orders: 9 }),
    ['the run removes Redis keys under orders, but the sessions are under spring:session'],
  ],
  [
    'one of several',
    removal({ namespace: 'orders' }),
    store(
      {
        rivals: [
          { namespace: 'orders', sessions: 9 },
          { namespace: 'spring:session', sessions: 3 },
        ],
      },
      { orders: 9 },
    ),
    [
      'the run removes Redis keys under orders, but there are sessions under several key prefixes: orders, ' +
        'spring:session',
    ],
  ],
  [
    'one that holds other keys, where no session is',
    removal({ namespace: 'orders' }, true),
    store({}, { orders: 9 }),
    ['the run removes Redis keys under orders, but nothing shows that sessions were ever stored there'],
  ],
  [
    'one that is empty, in a run that has done nothing',
    removal({ namespace: 'orders' }),
    store({}),
    ['the run removes Redis keys under orders, but nothing shows that sessions were ever stored there'],
  ],
  [
    'all of a database for one user',
    removal({ which: { user: 'alice' }, flush: true }),
    store({ namespace: 'spring:session' }),
    ['the run empties the whole Redis database, but its plan selects only some of the sessions'],
  ],
])('the key space of a record: %s', async (_, it, sessions, said) =>
  expect(await unfitOf(it, { sessions })).toEqual(said),
)
