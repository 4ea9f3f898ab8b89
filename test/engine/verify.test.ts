import { expect, test } from 'vitest'
import type { CheckReport } from '../../src/core/check.ts'
import { verify } from '../../src/engine/verify.ts'
import { ok, problem, skipped, unknown } from '../output/reports.ts'

/** Answers one after the other; the last one again and again. */
function examining(...answers: CheckReport[][]): {
  examine: () => Promise<{ checks: CheckReport[] }>
  asked: () => number
} {
  let asked = 0
  return {
    examine: async () => ({ checks: answers[Math.min(asked++, answers.length - 1)]! }),
    asked: () => asked,
  }
}

const signal = new AbortController().signal
const bad = problem('database/changelog-lock', 'error', 'it is held', {
  remedy: { text: 'Release it.', commands: ['testops-admin unlock-changelog -d prod'] },
})
const worse = problem('service/build', 'warning', 'it is old')

test('one look is enough where no check finds an error', async () => {
  const { examine, asked } = examining([ok('service/running'), worse])
  expect(await verify(examine, { patienceMs: 60_000, signal })).toEqual({
    statuses: { 'service/running': 'ok', 'service/build': 'warning' },
    reasons: { 'service/build': 'it is old' },
  })
  expect(asked()).toBe(1)
})

test('what settles a moment later is waited for', async () => {
  const { examine, asked } = examining([bad], [ok('database/changelog-lock')])
  expect(await verify(examine, { patienceMs: 60_000, signal })).toEqual({
    statuses: { 'database/changelog-lock': 'ok' },
    reasons: {},
  })
  expect(asked()).toBe(2)
})

test('what does not settle is told once the time is up', async () => {
  const { examine, asked } = examining([bad])
  expect(await verify(examine, { patienceMs: 0, signal })).toEqual({
    statuses: { 'database/changelog-lock': 'error' },
    reasons: { 'database/changelog-lock': 'it is held' },
    next: bad.remedy!.commands[0],
  })
  expect(asked()).toBe(1)
})

test('Ctrl-C ends the waiting', async () => {
  const controller = new AbortController()
  const { examine, asked } = examining([bad])
  setTimeout(() => controller.abort(), 50)
  expect(await verify(examine, { patienceMs: 60_000, signal: controller.signal })).toEqual({
    statuses: { 'database/changelog-lock': 'error' },
    reasons: { 'database/changelog-lock': 'it is held' },
    next: bad.remedy!.commands[0],
  })
  expect(asked()).toBe(2)
})

test('what a check could not judge comes with its reason', async () => {
  const { examine } = examining([
    skipped('trees/migrated', 'the service lists no job'),
    unknown('api/roles', 'it is gone'),
  ])
  expect(await verify(examine, { patienceMs: 60_000, signal })).toEqual({
    statuses: { 'trees/migrated': 'skipped', 'api/roles': 'unknown' },
    reasons: { 'trees/migrated': 'the service lists no job', 'api/roles': 'it is gone' },
  })
})
