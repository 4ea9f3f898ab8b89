import { describe, expect, it } from 'vitest'
import type { Check, Result } from '../../src/core/check.ts'
import { AdminError } from '../../src/core/error.ts'
import { foldCauses } from '../../src/engine/causes.ts'
import type { Judged } from '../../src/engine/causes.ts'

const results: Record<string, Result> = {
  ok: { status: 'ok', detail: '' },
  error: { status: 'problem', severity: 'error', findings: [{ message: '', evidence: [] }] },
  warning: { status: 'problem', severity: 'warning', findings: [{ message: '', evidence: [] }] },
  skipped: { status: 'skipped', reason: '' },
  unknown: { status: 'unknown', error: new AdminError('TIMED_OUT', '') },
  underway: { status: 'ok', detail: '', underway: 'a migration' },
}

function judged(id: string, result: Result, explains: readonly string[] = []): Judged {
  const check: Check = {
    id,
    title: id,
    reads: [],
    explains,
    remedy: { text: '', commands: [] },
    run: async () => ({ status: 'ok', detail: '' }),
  }
  return { check, result, durationMs: 0 }
}

function folded(...all: Judged[]): { roots: string[]; shown: Record<string, string> } {
  const { judged: results, rootCauses } = foldCauses(all)
  const shown = results.map(
    ({ check, result, because }) =>
      [check.id, because === undefined ? result.status : `${result.status} because ${because}`] as const,
  )
  return { roots: rootCauses, shown: Object.fromEntries(shown) }
}

describe('two checks, of which the first explains the second', () => {
  it.each([
    ['ok', 'error', ['b'], { a: 'ok', b: 'problem' }],
    ['error', 'error', ['a'], { a: 'problem', b: 'problem because a' }],
    ['error', 'warning', ['a'], { a: 'problem', b: 'problem because a' }],
    ['error', 'unknown', ['a'], { a: 'problem', b: 'unknown because a' }],
    ['error', 'ok', ['a'], { a: 'problem', b: 'ok' }],
    ['error', 'skipped', ['a'], { a: 'problem', b: 'skipped' }],
    ['warning', 'error', ['a', 'b'], { a: 'problem', b: 'problem' }],
    ['warning', 'warning', ['a', 'b'], { a: 'problem', b: 'problem' }],
    ['warning', 'unknown', ['a'], { a: 'problem', b: 'unknown' }],
    ['unknown', 'error', ['b'], { a: 'unknown', b: 'problem' }],
    ['skipped', 'error', ['b'], { a: 'skipped', b: 'problem' }],
    ['underway', 'error', [], { a: 'ok', b: 'skipped' }],
    ['underway', 'warning', [], { a: 'ok', b: 'skipped' }],
    ['underway', 'unknown', [], { a: 'ok', b: 'skipped' }],
    ['underway', 'ok', [], { a: 'ok', b: 'ok' }],
  ])('%s, %s', (first, second, roots, shown) => {
    expect(folded(judged('a', results[first]!, ['b']), judged('b', results[second]!))).toEqual({ roots, shown })
  })
})

describe('a problem that nothing else causes is none of another, nor of what is under way', () => {
  const unknown = (error: AdminError): Result => ({ status: 'unknown', error })
  const host = { host: 'testops.example.org', port: 443 }
  it.each<[string, Result]>([
    ['no systemd here', unknown(new AdminError('UNAVAILABLE', 'systemd is not running on this machine'))],
    ['a configuration that is not right', unknown(new AdminError('CONFIGURATION', ''))],
    [
      'a name that does not resolve',
      unknown(new AdminError('UNREACHABLE', '', [], { obstacle: { kind: 'unresolved', ...host } })),
    ],
    ['no route', unknown(new AdminError('UNREACHABLE', '', [], { obstacle: { kind: 'unrouted', ...host } }))],
    ['a certificate', unknown(new AdminError('UNREACHABLE', '', [], { obstacle: { kind: 'tls', ...host } }))],
    ['a proxy', unknown(new AdminError('UNREACHABLE', '', [], { obstacle: { kind: 'proxy', ...host } }))],
    [
      'a source that cannot be opened for such a reason',
      { ...results.error!, isUnopened: true, isApart: true } as Result,
    ],
  ])('%s', (_, result) => {
    const roots = result.status === 'problem' ? ['b'] : []
    expect(folded(judged('a', results.error!, ['b']), judged('b', result))).toEqual({
      roots: ['a', ...roots],
      shown: { a: 'problem', b: result.status },
    })
    expect(folded(judged('a', results.underway!, ['b']), judged('b', result))).toEqual({
      roots,
      shown: { a: 'ok', b: result.status },
    })
  })

  it.each<[string, Result]>([
    ['refused', unknown(new AdminError('UNREACHABLE', '', [], { obstacle: { kind: 'refused', ...host } }))],
    ['late', unknown(new AdminError('TIMED_OUT', ''))],
    ['without a pod or container', unknown(new AdminError('UNAVAILABLE', '', [], { obstacle: { kind: 'instances' } }))],
    ['strange', unknown(new AdminError('UNEXPECTED_ANSWER', ''))],
  ])('what may follow does: %s', (_, result) => {
    expect(folded(judged('a', results.error!, ['b']), judged('b', result)).shown).toEqual({
      a: 'problem',
      b: 'unknown because a',
    })
  })

  it('the check that stands for its source explains it all the same', () => {
    const behind: Result = {
      status: 'unknown',
      error: new AdminError('UNREACHABLE', '', [], { obstacle: { kind: 'unresolved', ...host } }),
      because: 'b',
    }
    const own = { ...results.error!, isUnopened: true, isApart: true } as Result
    expect(folded(judged('a', results.error!, ['b', 'c']), judged('b', own, ['c']), judged('c', behind))).toEqual({
      roots: ['a', 'b'],
      shown: { a: 'problem', b: 'problem', c: 'unknown because b' },
    })
  })
})

it('what could not be looked at is no cause of what was seen, where it may well run', () => {
  const blind: Judged = judged('a', { ...results.error!, isUnopened: true } as Result, ['b'])
  expect(folded(blind, judged('b', results.error!)).roots).toEqual(['a'])
  const mayRun = { ...blind, check: { ...blind.check, explainsUnopened: false } }
  expect(folded(mayRun, judged('b', results.error!))).toEqual({
    roots: ['a', 'b'],
    shown: { a: 'problem', b: 'problem' },
  })
})

it('what keeps this program alone out of a source, by its own login or secret, is no cause of what was seen', () => {
  const refused: Judged = judged('a', { ...results.error!, isUnopened: true, isOwn: true } as Result, ['b', 'c'])
  const behind: Result = { status: 'unknown', error: new AdminError('UNAUTHENTICATED', ''), because: 'a' }
  expect(folded(refused, judged('b', results.error!), judged('c', behind))).toEqual({
    roots: ['a', 'b'],
    shown: { a: 'problem', b: 'problem', c: 'unknown because a' },
  })
  const ofService: Judged = { ...refused, result: { ...results.error!, isUnopened: true } as Result }
  expect(folded(ofService, judged('b', results.error!), judged('c', behind))).toEqual({
    roots: ['a'],
    shown: { a: 'problem', b: 'problem because a', c: 'unknown because a' },
  })
})

it(
  'what has not been tried, for it is not known where it is, ' +
    'follows from nothing, also not from what is under way',
  () => {
    const untried: Result = {
      status: 'unknown',
      error: new AdminError('UNAVAILABLE', '', [], { obstacle: { kind: 'settings' } }),
    }
    expect(folded(judged('a', results.error!, ['b']), judged('b', untried)).shown).toEqual({
      a: 'problem',
      b: 'unknown',
    })
    expect(folded(judged('a', results.underway!, ['b']), judged('b', untried)).shown).toEqual({ a: 'ok', b: 'unknown' })
  },
)

it('names the root of a chain, not its next link', () => {
  const chain = folded(
    judged('c', results.error!),
    judged('b', results.error!, ['c']),
    judged('a', results.error!, ['b', 'c']),
  )
  expect(chain).toEqual({ roots: ['a'], shown: { a: 'problem', b: 'problem because a', c: 'problem because a' } })
})

it('names the next link where the root says nothing of it', () => {
  const chain = folded(
    judged('a', results.error!, ['b']),
    judged('b', results.error!, ['c']),
    judged('c', results.error!),
  )
  expect(chain.shown).toEqual({ a: 'problem', b: 'problem because a', c: 'problem because b' })
  expect(chain.roots).toEqual(['a'])
})

it('lets what is under way still the unknown checks that follow from a stilled problem, and no others', () => {
  const behind = (because: string): Result => ({ status: 'unknown', error: new AdminError('UNREACHABLE', ''), because })
  const run = folded(
    judged('lock', results.underway!, ['api', 'token']),
    judged('broker', results.error!),
    judged('api', results.error!),
    judged('token', behind('api')),
    judged('trees', behind('api')),
    judged('queues', behind('broker')),
  )
  expect(run).toEqual({
    roots: ['broker'],
    shown: {
      lock: 'ok',
      broker: 'problem',
      api: 'skipped',
      token: 'skipped',
      trees: 'skipped',
      queues: 'unknown because broker',
    },
  })
})

it('holds for any graph without circles: roots explain themselves, all else names a problem of the run', () => {
  let seed = 42
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  const kinds = ['ok', 'error', 'warning', 'skipped', 'unknown'] as const
  for (let round = 0; round < 500; round += 1) {
    const ids = Array.from({ length: 2 + random(8) }, (_, index) => `check${index}`)
    const all = ids.map((id, index) =>
      judged(
        id,
        results[kinds[random(kinds.length)]!]!,
        ids.slice(index + 1).filter(() => random(3) === 0),
      ),
    )
    const { judged: after, rootCauses } = foldCauses(all)
    const status = new Map(after.map((it) => [it.check.id, it]))
    const problems = after.filter(({ result }) => result.status === 'problem')
    expect(problems.length > 0).toBe(rootCauses.length > 0)
    for (const it of problems) {
      expect(rootCauses.includes(it.check.id)).toBe(it.because === undefined)
      const cause = it.because === undefined ? undefined : status.get(it.because)?.result
      if (cause) expect(cause.status).toBe('problem')
      if (cause) expect(cause).toMatchObject({ severity: 'error' })
    }
    expect(after.map(({ result }) => result)).toEqual(all.map(({ result }) => result))
  }
})

describe('a problem that follows from another one', () => {
  const unfinished = { ...results['error']!, follows: 'crashes' } as Result
  const explained = ['crashes', 'lock', 'api']

  it('is caused by its error, and explains nothing then', () => {
    const { roots, shown } = folded(
      judged('unfinished', unfinished, explained),
      judged('crashes', results['error']!, ['api']),
      judged('api', results['unknown']!),
    )
    expect(roots).toEqual(['crashes'])
    expect(shown).toMatchObject({ unfinished: 'problem because crashes', api: 'unknown because crashes' })
  })

  it.each([
    ['testops-admin unlock-changelog -d {deployment}', ['unfinished']],
    ['testops-admin explain lock', ['lock']],
    ['docker pull IMAGE', ['lock']],
  ])('follows another cause of that only where no repair removes it: %s', (first, expected) => {
    const remedy = { text: 'remove it', commands: [first] }
    const { roots, shown } = folded(
      judged('unfinished', unfinished, explained.slice(0, 1)),
      judged('lock', { ...results['error']!, remedy } as Result, ['crashes']),
      judged('crashes', results['error']!, ['api']),
      judged('api', results['unknown']!),
    )
    expect(roots).toContain(expected[0])
    expect(shown['unfinished']).toBe(expected[0] === 'lock' ? 'problem because lock' : 'problem')
  })

  it.each(['ok', 'warning', 'skipped'])('explains as ever where that is %s', (state) => {
    expect(
      folded(
        judged('unfinished', unfinished, explained),
        judged('crashes', results[state]!),
        judged('api', results['unknown']!),
      ).roots,
    ).toContain('unfinished')
  })
})
