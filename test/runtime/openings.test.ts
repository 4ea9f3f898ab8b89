import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Opened } from '../../src/core/endpoint.ts'
import { openings } from '../../src/runtime/open-deployment.ts'
import { errorOf } from './error-of.ts'

function recorder(): { said: string[]; opener: (name: string, ms?: number) => () => Promise<Opened<string>> } {
  const said: string[] = []
  const opener =
    (name: string, ms = 1) =>
    async (): Promise<Opened<string>> => {
      said.push(`open ${name}`)
      await sleep(ms)
      const close = async (): Promise<void> => {
        said.push(`close ${name}`)
        if (name === 'bad') throw new Error('cannot close')
      }
      return { source: name, close }
    }
  return { said, opener }
}

test('each opens once on first use, and all close once, the last first', async () => {
  const { said, opener } = recorder()
  const { share, close } = openings()
  const [a, b, c] = [share(opener('a')), share(opener('bad')), share(opener('c'))]
  expect(await Promise.all([a(), a()])).toEqual(['a', 'a'])
  await b()
  await Promise.all([close(), close()])
  expect(said).toEqual(['open a', 'open bad', 'close bad', 'close a'])
  expect(await errorOf(c())).toBe('INTERRUPTED: interrupted')
})

test('a failure is shared while it happens and forgotten afterwards', async () => {
  let attempts = 0
  const { share } = openings()
  const open = share(async () => {
    attempts += 1
    await sleep(1)
    if (attempts === 1) throw new Error('not yet')
    return { source: attempts, close: async () => undefined }
  })
  expect((await Promise.allSettled([open(), open()])).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await open()).toBe(2)
})

test('what is still being opened when all is closed is closed as soon as it is open', async () => {
  const { said, opener } = recorder()
  const { share, close } = openings()
  const opening = share(opener('slow', 30))()
  await close()
  expect(await errorOf(opening)).toBe('INTERRUPTED: interrupted')
  expect(said).toEqual(['open slow', 'close slow'])
})

test('an abort gives up at once, and what opens later is closed', async () => {
  const { said, opener } = recorder()
  const controller = new AbortController()
  const { share } = openings({ signal: controller.signal })
  const opening = share(opener('slow', 30))()
  controller.abort()
  expect(await errorOf(opening)).toBe('INTERRUPTED: interrupted')
  await sleep(60)
  expect(said).toEqual(['open slow', 'close slow'])
})
