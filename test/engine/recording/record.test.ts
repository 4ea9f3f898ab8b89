import { expect, test } from 'vitest'
import { AdminError } from '../../../src/core/error.ts'
import type { Sources } from '../../../src/core/sources.ts'
import type { OpenSources } from '../../../src/engine/judge.ts'
import { isWaiting, recordSources, replaySources } from '../../../src/engine/recording/record.ts'

class Broker {
  readonly target = 'mq:5672, vhost /'
  readonly vhost = '/'
  readonly user = 'testops'
  readonly connection = { password: 'not for a recording' }
  asked = 0

  async queues(): Promise<unknown[]> {
    this.asked += 1
    return [{ name: 'a' }]
  }

  async counts(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return new Map(names.map((name, index) => [name, index]))
  }

  async nodes(): Promise<never> {
    throw new AdminError('FORBIDDEN', 'not for this user')
  }

  never(): Promise<never> {
    return new Promise(() => undefined)
  }

  helm(verb: string): string {
    return `helm ${verb}`
  }
}

const closed = async (): Promise<never> => {
  throw new AdminError('UNREACHABLE', 'nothing listens there')
}

function opened(broker: Broker): OpenSources {
  const all = {
    broker: async () => broker,
    database: async () => [{ target: 'a', clock: async () => 1 }, { target: 'b' }],
  }
  return new Proxy(all, {
    ownKeys: () => ['broker', 'database', 'api'],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    get: (target, name) => (Reflect.get(target, name) as unknown) ?? closed,
  }) as unknown as OpenSources
}

type Any = Record<string, (...input: unknown[]) => unknown> & { target: string }

test('answers, facts and errors come back as they were', async () => {
  const broker = new Broker()
  const recorder = recordSources(opened(broker))
  const live = (await recorder.open.broker()) as unknown as Any
  expect(await live['queues']!()).toEqual([{ name: 'a' }])
  await live['queues']!()
  await live['counts']!(['x', 'y'])
  await expect(live['nodes']!()).rejects.toThrow('not for this user')
  expect(live['helm']!('get')).toBe('helm get')
  await recorder.open.database()
  await expect(recorder.open.api()).rejects.toThrow('nothing listens there')
  expect(broker.asked).toBe(1)

  const recording = recorder.recording()
  expect(JSON.stringify(recording)).not.toContain('not for a recording')
  expect(isWaiting(recording)).toBe(false)
  const open = replaySources(recording)
  const saved = (await open.broker()) as unknown as Any
  expect([saved.target, saved['vhost'], saved['user'], saved['connection']]).toEqual([
    'mq:5672, vhost /',
    '/',
    'testops',
    undefined,
  ])
  expect(await saved['queues']!()).toEqual([{ name: 'a' }])
  expect(await saved['counts']!(['x', 'y'])).toEqual(
    new Map([
      ['x', 0],
      ['y', 1],
    ]),
  )
  await expect(saved['counts']!(['z'])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await expect(saved['nodes']!()).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(saved['helm']!('get')).toBe('helm get')
  expect((await open.database()).map(({ target }) => target)).toEqual(['a', 'b'])
  await expect(open.api()).rejects.toMatchObject({ code: 'UNREACHABLE' })
  await expect(open.sessions()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

test('an answer that did not come does not come again', async () => {
  const recorder = recordSources(opened(new Broker()))
  const live = (await recorder.open.broker()) as unknown as Any
  void live['never']!()
  const recording = recorder.recording()
  expect(isWaiting(recording)).toBe(true)
  const saved = (await replaySources(recording).broker()) as unknown as Any
  const late = Symbol('late')
  expect(await Promise.race([saved['never']!(), new Promise((resolve) => setTimeout(resolve, 20, late))])).toBe(late)
})

test('a question that the recording does not know is no function, as one that the platform does not have', async () => {
  const recorder = recordSources(opened(new Broker()))
  await recorder.open.broker()
  const saved = (await replaySources(recorder.recording()).broker()) as unknown as Partial<Sources['service']>
  expect(saved.startLimit).toBeUndefined()
})
