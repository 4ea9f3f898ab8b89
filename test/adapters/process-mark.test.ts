import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { hasEnded, markOf } from '../../src/adapters/process-identity.ts'

test('a process that lives, one that has ended, and one that got its number later', async () => {
  const child = spawn('sleep', ['60'])
  const mark = await markOf(child.pid!)
  expect(await hasEnded(mark)).toBe(false)
  const [machine, pid] = mark.split('-')
  expect(await hasEnded(`${machine}-${pid}-00000000`)).toBe(true)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await hasEnded(mark)).toBe(true)
  await expect(markOf(child.pid!)).rejects.toThrow()
})

test.each(['', 'abcdef', '00000000-1-00000000', 'x-1-y'])('of %j nobody can tell from here', async (mark) => {
  expect(await hasEnded(mark)).toBeNull()
})
