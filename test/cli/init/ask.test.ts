import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { personAt } from '../../../src/cli/init/ask.ts'
import type { Asker } from '../../../src/cli/init/ask.ts'
import { AdminError } from '../../../src/core/error.ts'

/** Types these keys, one after the other, as fast as a person. */
async function typing<T>(keys: readonly string[], ask: (asker: Asker) => Promise<T>, signal = new AbortController().signal): Promise<T> {
  const [input, output] = [new PassThrough(), new PassThrough()]
  output.resume()
  const answer = ask(personAt({ input, output, signal }))
  for (const key of keys) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    input.write(key)
  }
  return answer
}

test('a text, without blanks around it; the usual one where nothing is typed', async () => {
  expect(await typing([' abc ', '\r'], (asker) => asker.text('What?'))).toBe('abc')
  expect(await typing(['\r'], (asker) => asker.text('What?', { usual: 'prod' }))).toBe('prod')
  expect(await typing(['\r'], (asker) => asker.text('What?'))).toBe('')
})

test('an answer with a problem is asked for again', async () => {
  const problem = (answer: string): string | null => (answer === 'abc' ? null : 'say abc')
  expect(await typing(['ab', '\r', 'c', '\r'], (asker) => asker.text('What?', { problem }))).toBe('abc')
})

test('one of several', async () => {
  const choices = [{ value: 1, name: 'one' }, { value: 2, name: 'two' }]
  expect(await typing(['\u001b[B', '\r'], (asker) => asker.choice('Which?', choices))).toBe(2)
})

test('Ctrl-C, and a signal, are no answer', async () => {
  await expect(typing(['\u0003'], (asker) => asker.text('What?'))).rejects.toMatchObject({ code: 'INTERRUPTED', message: 'interrupted: nothing was written' })
  const controller = new AbortController()
  setTimeout(() => controller.abort(new AdminError('INTERRUPTED', 'interrupted by SIGTERM')), 50)
  await expect(typing([], (asker) => asker.text('What?'), controller.signal)).rejects.toMatchObject({ code: 'INTERRUPTED' })
})
