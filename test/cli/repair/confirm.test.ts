import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { confirmed } from '../../../src/cli/repair/confirm.ts'
import type { Asking } from '../../../src/cli/repair/confirm.ts'
import { AdminError } from '../../../src/core/error.ts'
import { errorOf } from '../../adapters/failure-of.ts'

const never = new AbortController().signal

/** A terminal at which that is typed, once the question is there. */
function terminal(typed: string | null): Asking & { shown: () => string } {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input })
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
  let shown = ''
  output.on('data', (bytes: Buffer) => {
    const isFirst = shown === ''
    shown += bytes.toString()
    if (isFirst && typed !== null) setImmediate(() => input.write(typed))
  })
  return { input, output, shown: () => shown }
}

async function asked(
  typed: string | null,
  signal = never,
): Promise<[failure: string | null, exitCode: number | undefined, suggestions: readonly string[] | undefined]> {
  const error = await errorOf(
    confirmed(
      { deployment: { name: 'prod' }, confirm: undefined, words: ['undo', 'RUN'], signal },
      () => undefined,
      terminal(typed),
    ),
  )
  return [error && `${error.code} ${error.message}`, error?.exitCode, error?.suggestions]
}

describe('the deployment’s name is typed', () => {
  test.each([
    ['its name', 'prod\r', [null, undefined, undefined]],
    ['with blanks', ' prod \r', [null, undefined, undefined]],
    [
      'another name',
      'staging\r',
      ['REFUSED Nothing changed: the answer is not `prod`', 4, ['testops-admin undo RUN --confirm prod']],
    ],
    [
      'yes',
      'yes\r',
      ['REFUSED Nothing changed: the answer is not `prod`', 4, ['testops-admin undo RUN --confirm prod']],
    ],
    [
      'nothing',
      '\r',
      ['REFUSED Nothing changed: the answer is not `prod`', 4, ['testops-admin undo RUN --confirm prod']],
    ],
    [
      'Ctrl-D',
      '\u0004',
      ['REFUSED Nothing changed: there was no answer', 4, ['testops-admin undo RUN --confirm prod']],
    ],
    ['Ctrl-C', '\u0003', ['REFUSED Cancelled. Nothing was changed.', 4, []]],
    ['Ctrl-C within the name', 'pro\u0003', ['REFUSED Cancelled. Nothing was changed.', 4, []]],
  ])('%s', async (_, typed, outcome) => expect(await asked(typed)).toEqual(outcome))
})

test('the question names the deployment', async () => {
  const at = terminal('prod\r')
  await confirmed({ deployment: { name: 'prod' }, confirm: undefined, words: [], signal: never }, () => undefined, at)
  expect(at.shown()).toContain("Type the deployment's name, prod, to confirm: ")
})

test('a signal from outside ends the question', async () => {
  const controller = new AbortController()
  setTimeout(() => controller.abort(new AdminError('INTERRUPTED', 'interrupted by SIGTERM')), 50)
  expect(await asked(null, controller.signal)).toEqual(['REFUSED Cancelled. Nothing was changed.', 4, []])
  expect(await asked(null, AbortSignal.abort())).toEqual(['REFUSED Cancelled. Nothing was changed.', 4, []])
})

test('a terminal that was read to its end, as a file, is none to ask on', async () => {
  const at = terminal('prod\r')
  Object.defineProperty(at.input, 'readableEnded', { value: true })
  const error = await errorOf(
    confirmed(
      { deployment: { name: 'prod' }, confirm: undefined, words: ['migrate-trees', '--from-file', '-'], signal: never },
      () => undefined,
      at,
    ),
  )
  expect([error?.message, error?.suggestions]).toEqual([
    'Nothing changed: this command needs a confirmation, but there is no terminal to ask on',
    ['testops-admin migrate-trees --from-file - --confirm prod'],
  ])
})

test('a flag asks nothing, and shows nothing', async () => {
  let shown = 0
  await confirmed(
    { deployment: { name: 'prod' }, confirm: 'prod', words: [], signal: never },
    () => void (shown += 1),
    terminal(null),
  )
  expect(shown).toBe(0)
})
