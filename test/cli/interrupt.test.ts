import { expect, test } from 'vitest'
import { withInterrupts } from '../../src/cli/interrupt.ts'

test('after an interrupt, no signal is ever without a listener: it would kill the process as it ends', async () => {
  const left: number[] = []
  const note = (name: string | symbol): void => {
    if (name === 'SIGINT') left.push(process.listenerCount('SIGINT'))
  }
  const earlier = process.listeners('SIGINT')
  process.on('removeListener', note)
  try {
    await withInterrupts(async (signal) => {
      process.emit('SIGINT')
      await Promise.resolve()
      expect(signal.aborted).toBe(true)
    })
    expect(left).toEqual([earlier.length + 1])
  } finally {
    process.removeListener('removeListener', note)
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      for (const listener of process.listeners(name))
        if (!earlier.includes(listener) && listener.name === 'quit') process.removeListener(name, listener)
  }
})
