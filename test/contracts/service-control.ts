import { describe, expect, test } from 'vitest'
import type { Compared, ServiceControl } from '../../src/core/controls.ts'
import { AdminError } from '../../src/core/error.ts'
import type { ServiceSource, ServiceStatus } from '../../src/core/sources.ts'
import { failureOf } from '../adapters/failure-of.ts'

export interface OpenedService {
  control: ServiceControl
  source: Pick<ServiceSource, 'status' | 'environment'>
  close: () => Promise<void>
}

export interface ServiceWorld {
  running: boolean
  settings: Readonly<Record<string, string>>
}

const name = 'VENDOR_RABBIT_DURABLE'
const waiting = { timeoutMs: 10_000 }

/**
 * What every control of a service keeps: it returns once the service is so, and what is not as it was seen is left
 * alone.
 */
export function serviceControlContract(open: (world: ServiceWorld) => Promise<OpenedService>): void {
  async function on<T>(world: Partial<ServiceWorld>, work: (opened: OpenedService) => Promise<T>): Promise<T> {
    const opened = await open({ running: true, settings: {}, ...world })
    try {
      return await work(opened)
    } finally {
      await opened.close()
    }
  }

  describe.each<[verb: 'start' | 'stop', becomes: ServiceStatus['state']]>([
    ['stop', 'stopped'],
    ['start', 'running'],
  ])('%s', (verb, becomes) => {
    test.each([true, false])('is over when it is so, and harmless where it is: running before: %s', async (running) =>
      on({ running }, async ({ control, source }) => {
        for (let time = 0; time < 2; time += 1) {
          const told = await control[verb](waiting)
          const { state, instances } = await source.status()
          expect([told.state, state, instances.length > 0]).toEqual([becomes, becomes, becomes === 'running'])
        }
      }),
    )

    test('is not waited for once it is interrupted', async () =>
      on({ running: verb === 'stop' }, async ({ control }) => {
        const signal = AbortSignal.abort(new AdminError('INTERRUPTED', 'interrupted by SIGINT'))
        expect(await failureOf(control[verb]({ ...waiting, signal }))).toMatch(/^INTERRUPTED /)
      }))
  })

  test.each([true, false])('trying to stop it changes nothing; running: %s', async (running) =>
    on({ running }, async ({ control, source }) => {
      await control.tryStop?.()
      expect((await source.status()).state).toBe(running ? 'running' : 'stopped')
    }),
  )

  describe.each<
    [
      what: string,
      before: string | null,
      from: string | null,
      to: string | null,
      compared: Compared,
      after: string | null,
    ]
  >([
    ['a setting is changed', 'false', 'false', 'true', 'set', 'true'],
    ['one that was absent is set', null, null, 'true', 'set', 'true'],
    ['one is removed', 'true', 'true', null, 'set', null],
    ['one that is so already stays so', 'true', 'false', 'true', 'set', 'true'],
    ['one that is absent already stays so', null, 'false', null, 'set', null],
    ['one that somebody else has changed is left alone', 'no', 'false', 'true', 'changed', 'no'],
    ['one that somebody else has set is left alone', 'no', null, 'true', 'changed', 'no'],
    ['one that somebody else has removed is left alone', null, 'false', 'true', 'changed', null],
    ['a value with blanks and quotes stays as it is', null, null, `a "b" $c 'd' # e`, 'set', `a "b" $c 'd' # e`],
  ])('%s', (_, before, from, to, compared, after) => {
    test.each([true, false])('running: %s', async (running) =>
      on(
        { running, settings: { TZ: 'UTC', ...(before !== null && { [name]: before }) } },
        async ({ control, source }) => {
          expect(await control.writeSetting({ name, from, to })).toBe(compared)
          const settings = await source.environment()
          expect([settings.get(name) ?? null, settings.get('TZ'), (await source.status()).state]).toEqual([
            after,
            'UTC',
            running ? 'running' : 'stopped',
          ])
        },
      ),
    )
  })
}
