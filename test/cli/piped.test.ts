import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { hasInput } from '../../src/cli/piped.ts'

const streamOf = (input: PassThrough): NodeJS.ReadStream => input as unknown as NodeJS.ReadStream

test('what has come can be read afterwards', async () => {
  const input = new PassThrough()
  input.write('some text')
  input.end()
  expect(await hasInput(60_000, streamOf(input))).toBe(true)
  const chunks: string[] = []
  for await (const chunk of input) chunks.push(String(chunk))
  expect(chunks.join('')).toBe('some text')
})

test('what comes late is waited for', async () => {
  const input = new PassThrough()
  setTimeout(() => input.end('late'), 50)
  expect(await hasInput(60_000, streamOf(input))).toBe(true)
})

test('an end is something, too', async () => {
  const input = new PassThrough()
  input.end()
  expect(await hasInput(60_000, streamOf(input))).toBe(true)
})

test('of a pipe that stays open and silent nothing is kept', async () => {
  const input = new PassThrough()
  expect(await hasInput(20, streamOf(input))).toBe(false)
  expect(input.destroyed).toBe(true)
})
