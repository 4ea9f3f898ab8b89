import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { personAt } from '../../../src/cli/init/interview.ts'
import type { Asker } from '../../../src/cli/init/interview.ts'
import type { KeptAnswers } from '../../../src/runtime/init/index.ts'
import { AdminError } from '../../../src/core/error.ts'

const kept = { of: () => undefined, keep: async () => undefined }

/** Types these keys, one after the other, as fast as a person. */
async function typing<T>(
  keys: readonly string[],
  ask: (asker: Asker) => Promise<T>,
  signal = new AbortController().signal,
  answers: Pick<KeptAnswers, 'of' | 'keep'> = kept,
): Promise<T> {
  const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true, columns: 80 })]
  output.resume()
  const answer = ask(personAt({ input, output, signal }, answers))
  for (const key of keys) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    input.write(key)
  }
  return answer
}

test('a text, without blanks around it; the usual one where nothing is typed', async () => {
  expect(await typing([' abc ', '\r'], (asker) => asker.text('what', 'What?'))).toBe('abc')
  expect(await typing(['\r'], (asker) => asker.text('what', 'What?', { usual: 'prod' }))).toBe('prod')
  expect(await typing(['\r'], (asker) => asker.text('what', 'What?'))).toBe('')
})

test('an answer with a problem is asked for again', async () => {
  const problem = (answer: string): string | null => (answer === 'abc' ? null : 'say abc')
  expect(await typing(['ab', '\r', 'abc', '\r'], (asker) => asker.text('what', 'What?', { problem }))).toBe('abc')
})

test('one of several', async () => {
  const choices = [
    { value: 1, name: 'one' },
    { value: 2, name: 'two' },
  ]
  expect(await typing(['\u0015', '3\r', '2', '\r'], (asker) => asker.choice('which', 'Which?', choices))).toBe(2)
})

test('what is offered can be cleared, and what was answered before is offered first', async () => {
  expect(await typing(['\u0015', '\r'], (asker) => asker.text('what', 'What?', { usual: 'prod' }))).toBe('')
  const before = { of: () => 'two', keep: async () => undefined }
  expect(await typing(['\r'], (asker) => asker.text('what', 'What?', { usual: 'prod' }), undefined, before)).toBe('two')
  expect(
    await typing(
      ['\r'],
      (asker) =>
        asker.choice('which', 'Which?', [
          { value: 1, name: 'one' },
          { value: 2, name: 'two' },
        ]),
      undefined,
      before,
    ),
  ).toBe(2)
})

test('100 kB are judged as any answer, and soon', async () => {
  const problem = (answer: string): string | null => (answer.length > 1000 ? 'too long' : null)
  expect(await typing(['x'.repeat(100_000), '\r', 'abc\r'], (asker) => asker.text('what', 'What?', { problem }))).toBe(
    'abc',
  )
}, 20_000)

test('Ctrl-D is no answer', async () => {
  await expect(typing(['\u0004'], (asker) => asker.text('what', 'What?'))).rejects.toMatchObject({
    code: 'REFUSED',
    message: 'Cancelled. Nothing was changed.',
  })
})

test('Ctrl-C, and a signal, are no answer', async () => {
  await expect(typing(['\u0003'], (asker) => asker.text('what', 'What?'))).rejects.toMatchObject({
    code: 'REFUSED',
    message: 'Cancelled. Nothing was changed.',
  })
  const controller = new AbortController()
  setTimeout(() => controller.abort(new AdminError('INTERRUPTED', 'interrupted by SIGTERM')), 50)
  await expect(typing([], (asker) => asker.text('what', 'What?'), controller.signal)).rejects.toMatchObject({
    code: 'REFUSED',
  })
})
