import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { hasEnded, identify, isAlive, markOf } from '../../src/adapters/process-identity.ts'

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

test('a process that /proc hides from this user may be the one', async () => {
  const child = spawn('sleep', ['60'])
  const mark = await markOf(child.pid!)
  const identity = (await identify(child.pid!))!
  child.kill('SIGKILL')
  await once(child, 'exit')
  // what the system answers of a process of another user
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
  })
  onTestFinished(() => kill.mockRestore())
  expect([await hasEnded(mark), await isAlive(identity)]).toEqual([null, true])
  kill.mockRestore()
  expect([await hasEnded(mark), await isAlive(identity)]).toEqual([true, false])
})
