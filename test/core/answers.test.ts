import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { sharedAnswers } from '../../src/core/answers.ts'

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
  const answers = sharedAnswers({ keep: 'nothing' })
  const [one, other] = [question(), question()]
  const given = [answers.to('one', one.ask), answers.to('one', one.ask), answers.to('other', other.ask)]
  one.answer()
  other.answer()
  expect(await Promise.all(given)).toEqual([1, 1, 1])
  expect([one.asked(), other.asked()]).toEqual([1, 1])
})

test('what has come is asked again, a failure too', async () => {
  const answers = sharedAnswers({ keep: 'nothing' })
  const one = question()
  const first = answers.to('one', one.ask)
  one.fail(new Error('no answer'))
  await expect(first).rejects.toThrow('no answer')
  const second = answers.to('one', one.ask)
  one.answer()
  expect(await second).toBe(2)
})

test('after a change nobody gets what was asked before it', async () => {
  const answers = sharedAnswers({ keep: 'nothing' })
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
  const answers = sharedAnswers({ keep: 'nothing', forMs: 20 })
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

test('what is kept is not asked again, and failures are kept only if wanted', async () => {
  const [good, all] = [sharedAnswers({ keep: 'successes' }), sharedAnswers({ keep: 'everything' })]
  for (const [answers, turns] of [
    [good, 2],
    [all, 1],
  ] as const) {
    let asked = 0
    const fail = async (): Promise<number> => {
      asked += 1
      throw new Error(`turn ${asked}`)
    }
    await expect(answers.to('one', fail)).rejects.toThrow('turn 1')
    await expect(answers.to('one', fail)).rejects.toThrow(`turn ${turns}`)
    expect(await answers.to('other', async () => 1)).toBe(1)
    expect(await answers.to('other', async () => 2)).toBe(1)
    expect(answers.to('plain', () => 1)).toBe(1)
    expect(answers.to('plain', () => 2)).toBe(1)
  }
})

test('what is kept for a while is asked again afterwards', async () => {
  const answers = sharedAnswers({ keep: 'everything', keptMs: 30 })
  expect(await answers.to('one', async () => 1)).toBe(1)
  expect(await answers.to('one', async () => 2)).toBe(1)
  await sleep(60)
  expect(await answers.to('one', async () => 3)).toBe(3)
})
