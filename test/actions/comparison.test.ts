import { describe, expect, test } from 'vitest'
import { accountsOf, compare, leftOfReturned, repeatsIn } from '../../src/actions/queues/account.ts'
import type { Counts, Direction, Entry } from '../../src/core/notes.ts'
import type { Contents } from '../../src/core/message-mover.ts'

/** One queue's part in the journal: an attempt that begins, and what it has moved. */
function begun(direction: Direction, attempt: string, ready: number, held: number): Entry {
  return { event: 'begun', direction, attempt, queues: { q: { ready, held } } }
}

function moved(direction: Direction, attempt: string, contents: Contents): Entry {
  return { event: 'moved', direction, attempt, queues: { q: { contents, othersIds: 0 } } }
}

function of(attempt: string, count: number, { last = count, digest = `${attempt}${count}` } = {}): Contents {
  return { [attempt]: { count, last, digest } }
}

function readFrom(entries: readonly Entry[]): ReturnType<typeof accountsOf> {
  return accountsOf(entries.map((entry) => JSON.stringify(entry)))
}

const five = [begun('aside', 'a', 5, 0), moved('aside', 'a', of('a', 5))]
/** killed when all five were in the holding queue, and two of them acknowledged */
const cut = [begun('aside', 'a', 5, 0), begun('aside', 'b', 3, 5), moved('aside', 'b', of('b', 3))]
const same = { difference: null, isAtLeast: false }

describe('what came beside what went', () => {
  test.each<[what: string, entries: readonly Entry[], expected: ReturnType<typeof compare>, now?: Counts]>([
    ['all of it', [...five, begun('back', 'x', 0, 5), moved('back', 'x', of('a', 5))], { went: 5, came: 5, ...same }],
    [
      'in two attempts',
      [
        ...five,
        begun('aside', 'b', 1, 5),
        moved('aside', 'b', of('b', 1)),
        begun('back', 'x', 0, 6),
        moved('back', 'x', { ...of('a', 5), ...of('b', 1) }),
      ],
      { went: 6, came: 6, ...same },
    ],
    [
      'less',
      [...five, begun('back', 'x', 0, 4), moved('back', 'x', of('a', 4, { last: 5 }))],
      { went: 5, came: 4, difference: 'count', isAtLeast: false },
    ],
    ['nothing', five, { went: 5, came: 0, difference: 'count', isAtLeast: false }],
    [
      'as many, and other ones',
      [...five, begun('back', 'x', 0, 5), moved('back', 'x', of('a', 5, { digest: 'other' }))],
      { went: 5, came: 5, difference: 'contents', isAtLeast: false },
    ],
    [
      'one of another run',
      [...five, begun('back', 'x', 0, 6), moved('back', 'x', { ...of('a', 5), ...of('z', 1) })],
      { went: 5, came: 6, difference: 'count', isAtLeast: false },
    ],
    [
      'all, after a kill on the way there',
      [...cut, begun('back', 'x', 0, 8), moved('back', 'x', { ...of('a', 5), ...of('b', 3) })],
      { went: 8, came: 8, difference: null, isAtLeast: true },
    ],
    [
      'less, after a kill on the way there',
      [...cut, begun('back', 'x', 0, 7), moved('back', 'x', { ...of('a', 4, { last: 5 }), ...of('b', 3) })],
      { went: 8, came: 7, difference: 'count', isAtLeast: true },
    ],
    [
      'all, after two that an alarm held up, and that the broker took once it was over',
      [
        begun('aside', 'a', 5, 0),
        begun('aside', 'b', 5, 0),
        begun('aside', 'c', 5, 8),
        moved('aside', 'c', of('c', 5)),
        begun('back', 'x', 0, 13),
        moved('back', 'x', { ...of('a', 5), ...of('b', 3), ...of('c', 5) }),
      ],
      { went: 13, came: 13, difference: null, isAtLeast: true },
    ],
    [
      'all, after a kill before anything was moved',
      [
        begun('aside', 'a', 5, 0),
        begun('aside', 'b', 5, 0),
        moved('aside', 'b', of('b', 5)),
        begun('back', 'x', 0, 5),
        moved('back', 'x', of('b', 5)),
      ],
      { went: 5, came: 5, ...same },
    ],
    [
      'all, after a kill on the way back',
      [...five, begun('back', 'x', 0, 5), begun('back', 'y', 4, 3), moved('back', 'y', of('a', 3, { last: 5 }))],
      { went: 5, came: 5, difference: null, isAtLeast: true },
    ],
    [
      'all, after a kill at the very end',
      [...five, begun('back', 'x', 0, 5)],
      { went: 5, came: 5, difference: null, isAtLeast: true },
    ],
    [
      'less, after a kill on the way back',
      [...five, begun('back', 'x', 0, 4), begun('back', 'y', 2, 2), moved('back', 'y', of('a', 2, { last: 5 }))],
      { went: 5, came: 4, difference: 'count', isAtLeast: true },
    ],
    [
      'all, after a kill, and the broker has dropped the rest of a transient queue meanwhile',
      [begun('aside', 'a', 20, 0), begun('back', 'x', 0, 6), moved('back', 'x', of('a', 6))],
      { went: 20, came: 6, difference: 'before', isAtLeast: true },
    ],
    [
      'nothing, since the broker has dropped it all after a kill',
      [begun('aside', 'a', 20, 0)],
      { went: 20, came: 0, difference: 'before', isAtLeast: false },
    ],
    [
      'less of what was left when the broker dropped the rest',
      [
        begun('aside', 'a', 20, 0),
        begun('aside', 'b', 9, 6),
        moved('aside', 'b', of('b', 9)),
        begun('back', 'x', 0, 14),
        moved('back', 'x', { ...of('a', 5, { last: 6 }), ...of('b', 9) }),
      ],
      { went: 15, came: 14, difference: 'count', isAtLeast: true },
    ],
    [
      'all, after a kill before anything was moved, and the queue was left as it was',
      [begun('aside', 'a', 5, 0)],
      { went: 0, came: 0, ...same },
      { ready: 5, held: 0 },
    ],
    [
      'what had gone, after a kill, and the queue has the rest',
      [begun('aside', 'a', 5, 0), begun('back', 'x', 3, 2), moved('back', 'x', of('a', 2))],
      { went: 2, came: 2, difference: null, isAtLeast: true },
    ],
    [
      'all, after a kill while somebody still read it',
      [
        { event: 'begun', direction: 'aside', attempt: 'a', queues: { q: null } },
        begun('back', 'x', 0, 2),
        moved('back', 'x', of('a', 2)),
      ],
      { went: 2, came: 2, difference: null, isAtLeast: true },
    ],
    ['what a former version put aside', [begun('back', 'x', 0, 5), moved('back', 'x', of('', 5))], null],
  ])('%s', (_, entries, expected, now = { ready: 0, held: 0 }) => {
    expect(compare(readFrom(entries).of('q')!, now)).toEqual(expected)
  })

  test('is told once, and begun anew afterwards', () => {
    const notes = [...five, { event: 'compared', queues: ['q'], differing: { q: 'less' } } satisfies Entry].map(
      (entry) => JSON.stringify(entry),
    )
    const accounts = accountsOf(['a note of something else', '1', ...notes])
    expect([accounts.of('q'), accounts.toldOf('q'), accounts.of('other'), accounts.toldOf('other')]).toEqual([
      null,
      'less',
      null,
      null,
    ])
  })
})

describe('what is there twice', () => {
  test.each<[what: string, entries: readonly Entry[], now: { ready: number; held: number }, repeats: number]>([
    ['nothing', five, { ready: 0, held: 5 }, 0],
    ['what was not acknowledged when a way there was cut off', cut, { ready: 0, held: 8 }, 3],
    [
      'the same of two that were cut off',
      [
        begun('aside', 'a', 20, 0),
        begun('aside', 'b', 15, 10),
        begun('aside', 'c', 15, 12),
        moved('aside', 'c', of('c', 15)),
      ],
      { ready: 0, held: 27 },
      7,
    ],
    [
      'what was not acknowledged when a way back was cut off',
      [...five, begun('back', 'x', 1, 5)],
      { ready: 5, held: 3 },
      2,
    ],
    ['of both', [...cut, begun('back', 'x', 0, 8)], { ready: 4, held: 6 }, 5],
    ['not what expired meanwhile', [...five, begun('back', 'x', 1, 5)], { ready: 1, held: 3 }, 0],
    [
      'not known, since somebody still read it',
      [
        { event: 'begun', direction: 'aside', attempt: 'a', queues: { q: null } },
        begun('aside', 'b', 3, 5),
        moved('aside', 'b', of('b', 3)),
      ],
      { ready: 0, held: 8 },
      0,
    ],
    [
      'what comes twice once a queue has vanished with the rest',
      [begun('aside', 'a', 5, 0), begun('back', 'x', 0, 2)],
      { ready: 2, held: 2 },
      2,
    ],
    ['what a former version has moved, too', [begun('back', 'x', 0, 5)], { ready: 3, held: 3 }, 1],
  ])('%s', (_, entries, now, repeats) => {
    expect(repeatsIn(readFrom(entries).attemptsOf('q'), now)).toBe(repeats)
  })
})

describe('what had come back, and is gone', () => {
  const back = [...five, begun('back', 'x', 0, 5), begun('back', 'y', 3, 2), moved('back', 'y', of('a', 2))]
  test.each<
    [
      what: string,
      entries: readonly Entry[],
      now: { ready: number; held: number; ahead: number },
      left: { came: number; left: number } | null,
    ]
  >([
    ['nothing', back, { ready: 5, held: 0, ahead: 0 }, null],
    ['nothing, and some are there twice', [...five, begun('back', 'x', 0, 5)], { ready: 4, held: 2, ahead: 0 }, null],
    ['all of it', [...five, begun('back', 'x', 0, 5)], { ready: 0, held: 2, ahead: 0 }, { came: 3, left: 0 }],
    ['some of what two brought', back, { ready: 1, held: 0, ahead: 0 }, { came: 5, left: 1 }],
    [
      'what was there before, too',
      [...five, begun('back', 'x', 4, 5)],
      { ready: 0, held: 5, ahead: 0 },
      { came: 4, left: 0 },
    ],
    [
      'of both places',
      [
        ...five,
        { event: 'begun', direction: 'back', ahead: true, attempt: 'w', queues: { q: { ready: 0, held: 3 } } },
        begun('back', 'x', 3, 5),
      ],
      { ready: 0, held: 4, ahead: 0 },
      { came: 4, left: 0 },
    ],
    [
      'none that went aside since',
      [...five, begun('back', 'x', 0, 5), begun('aside', 'b', 3, 2)],
      { ready: 0, held: 5, ahead: 0 },
      null,
    ],
    [
      'none that was left out',
      [
        ...five,
        begun('back', 'x', 2, 5),
        {
          event: 'moved',
          direction: 'back',
          attempt: 'x',
          queues: { q: { contents: of('a', 5), othersIds: 0, leftOut: 2 } },
        },
      ],
      { ready: 5, held: 0, ahead: 0 },
      null,
    ],
    [
      'not known, since somebody read it',
      [...five, { event: 'begun', direction: 'back', attempt: 'x', queues: { q: null } }],
      { ready: 0, held: 0, ahead: 0 },
      null,
    ],
    [
      'none that a broker which was killed holds once more',
      [...five, begun('back', 'x', 0, 5), moved('back', 'x', of('a', 5))],
      { ready: 0, held: 5, ahead: 0 },
      null,
    ],
    [
      'those of them that it does not hold',
      [...five, begun('back', 'x', 0, 5), moved('back', 'x', of('a', 5))],
      { ready: 0, held: 2, ahead: 0 },
      { came: 3, left: 0 },
    ],
    ['none, since none came', five, { ready: 0, held: 5, ahead: 0 }, null],
  ])('%s', (_, entries, now, left) => {
    expect(leftOfReturned(readFrom(entries).attemptsOf('q'), now)).toEqual(left)
  })
})

describe('what a broker that was killed holds again', () => {
  const backTo = (contents: Contents, more: object = {}): Entry => ({
    event: 'moved',
    direction: 'back',
    attempt: 'x',
    queues: { q: { contents, othersIds: 0, ...more } },
  })
  const compared = (transient?: Record<string, number>): Entry => ({
    event: 'compared',
    queues: ['q'],
    differing: {},
    ...(transient && { transient }),
  })
  const back = [...five, begun('back', 'x', 0, 5)]

  test.each<[what: string, entries: readonly Entry[], came: Record<string, number>]>([
    [
      'has come, where it is in a durable queue just as it went',
      [...back, backTo(of('a', 5), { durable: true })],
      { a: 5 },
    ],
    ['also once both were compared', [...back, backTo(of('a', 5), { durable: true }), compared()], { a: 5 }],
    ['may be lost, where the queue was not durable', [...back, backTo(of('a', 5)), compared({ q: 5 })], {}],
    ['is not proven, where fewer came', [...back, backTo(of('a', 4), { durable: true })], {}],
    ['is not proven, where others came', [...back, backTo(of('a', 5, { digest: 'other' }), { durable: true })], {}],
    [
      'has come as far as its places follow each other, where it went aside in a move that was cut off',
      [begun('aside', 'a', 5, 0), begun('back', 'x', 0, 5), backTo(of('a', 4), { durable: true })],
      { a: 4 },
    ],
    [
      'is not proven, where some of such a move did not come',
      [begun('aside', 'a', 5, 0), begun('back', 'x', 0, 4), backTo(of('a', 4, { last: 5 }), { durable: true })],
      {},
    ],
    ['has not come, by a way aside', five, {}],
  ])('%s', (_, entries, came) => {
    expect(readFrom(entries).cameOf('q')?.proven ?? {}).toEqual(came)
  })

  test('is no attempt of its own where it is all that was found', () => {
    const entries = [
      ...back,
      backTo(of('a', 5), { durable: true }),
      begun('back', 'y', 5, 5),
      {
        event: 'moved',
        direction: 'back',
        attempt: 'y',
        queues: { q: { contents: {}, othersIds: 0, again: 5, durable: true } },
      } satisfies Entry,
    ]
    const accounts = readFrom(entries)
    expect(compare(accounts.of('q')!, { ready: 5, held: 5 })).toEqual({ went: 5, came: 5, ...same })
    expect(accounts.attemptsOf('q').map(({ attempt }) => attempt)).toEqual(['a', 'x'])
    expect(readFrom([...entries.slice(0, 4), compared(), ...entries.slice(4)]).of('q')).toBeNull()
  })

  test.each<[what: string, contents: Contents, expected: ReturnType<typeof compare>, ready?: number]>([
    ['all of it comes once more into a queue that had lost it', of('a', 5), { went: 5, came: 5, ...same }],
    ['only some of it', of('a', 2, { last: 5 }), { went: 5, came: 2, difference: 'again', isAtLeast: true }],
    ['what never went', of('z', 5), { went: 0, came: 5, difference: 'count', isAtLeast: false }],
    ['what may have been there all the time', of('a', 5), { went: 5, came: 5, difference: null, isAtLeast: true }, 5],
    [
      'some of what may have been there all the time',
      of('a', 2, { last: 5 }),
      { went: 2, came: 2, difference: null, isAtLeast: true },
      3,
    ],
    [
      'fewer than there were, beside some that are there',
      of('a', 1, { last: 5 }),
      { went: 5, came: 4, difference: 'again', isAtLeast: true },
      3,
    ],
  ])('%s', (_, contents, expected, ready = 0) => {
    const entries = [
      ...back,
      backTo(of('a', 5)),
      compared({ q: 5 }),
      begun('back', 'y', ready, 5),
      moved('back', 'y', contents),
    ]
    expect(compare(readFrom(entries).of('q')!, { ready, held: 5 })).toEqual(expected)
  })

  test('is told beside what went aside since, and makes up for none of it', () => {
    const since = [
      ...back,
      backTo(of('a', 5)),
      compared({ q: 5 }),
      begun('aside', 'b', 5, 0),
      moved('aside', 'b', of('b', 5)),
    ]
    const seen = (contents: Contents): ReturnType<typeof compare> =>
      compare(readFrom([...since, begun('back', 'y', 0, 8), moved('back', 'y', contents)]).of('q')!, {
        ready: 0,
        held: 8,
      })
    expect(seen({ ...of('a', 3, { last: 5 }), ...of('b', 5) })).toEqual({ went: 8, came: 8, ...same })
    expect(seen({ ...of('a', 3, { last: 5 }), ...of('b', 2, { last: 5 }) })).toEqual({
      went: 5,
      came: 2,
      difference: 'count',
      isAtLeast: false,
    })
  })

  test('of an attempt that was cut off is as much as comes', () => {
    const entries = [
      begun('aside', 'a', 5, 0),
      begun('back', 'x', 0, 5),
      backTo(of('a', 5)),
      compared({ q: 5 }),
      begun('back', 'y', 0, 3),
      moved('back', 'y', of('a', 3, { last: 5 })),
    ]
    expect(compare(readFrom(entries).of('q')!, { ready: 0, held: 3 })).toEqual({ went: 3, came: 3, ...same })
  })
})
