import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sharedAnswers } from '../../src/core/shared-answers.ts'

/** A question that counts how often it is asked, and is answered when told. */
function question(): {
  ask: () => Promise<number>
  answer: () => void
  fail: (error: Error) => void
  asked: () => number
} {
  const waiting: { resolve: (value: number) => void; reject: (error: Error) => void }[] = []
  let asked = 0
  return {
    ask: async () => {
      const turn = ++asked
      return new Promise<number>((resolve, reject) => waiting.push({ resolve: () => resolve(turn), reject }))
    },
    answer: () => waiting.splice(0).forEach(({ resolve }) => resolve(0)),
    fail: (error) => waiting.splice(0).forEach(({ reject }) => reject(error)),
    asked: () => asked,
  }
}

test('several who ask the same at the same time share one answer, and others do not', async () => {
  const answers = sharedAnswers()
  const [one, other] = [question(), question()]
  const given = [answers.to('one', one.ask), answers.to('one', one.ask), answers.to('other', other.ask)]
  one.answer()
  other.answer()
  expect(await Promise.all(given)).toEqual([1, 1, 1])
  expect([one.asked(), other.asked()]).toEqual([1, 1])
})

test('what has come is asked again, a failure too', async () => {
  const answers = sharedAnswers()
  const one = question()
  const first = answers.to('one', one.ask)
  one.fail(new Error('no answer'))
  await expect(first).rejects.toThrow('no answer')
  const second = answers.to('one', one.ask)
  one.answer()
  expect(await second).toBe(2)
})

test('after a change nobody gets what was asked before it', async () => {
  const answers = sharedAnswers()
  const one = question()
  const before = answers.to('one', one.ask)
  answers.forget()
  const after = answers.to('one', one.ask)
  const beside = answers.to('one', one.ask)
  one.answer()
  expect(await Promise.all([before, after, beside])).toEqual([1, 2, 2])
  expect(one.asked()).toBe(2)
})

test('an answer that does not come is not waited for by whoever asks later', async () => {
  const answers = sharedAnswers({ forMs: 20 })
  const [lost, one] = [question(), question()]
  const first = answers.to('one', lost.ask)
  await sleep(50)
  const second = answers.to('one', one.ask)
  const beside = answers.to('one', one.ask)
  one.answer()
  expect(await Promise.all([second, beside])).toEqual([1, 1])
  lost.answer()
  expect([await first, lost.asked(), one.asked()]).toEqual([1, 1, 1])
})
