import { describe, expect, test } from 'vitest'
import { jsonText } from '../../src/cli/write.ts'
import { AdminError } from '../../src/core/error.ts'
import { documentOf } from '../../src/engine/carry-out.ts'
import { makePlan } from '../../src/engine/plan.ts'
import { errorText } from '../../src/output/error-text.ts'
import { planText } from '../../src/output/plan.ts'
import { repairText, takeBackText } from '../../src/output/repair.ts'
import { repairs } from '../../src/repairs/index.ts'
import type { Parts } from '../checks/table.ts'
import {
  ago,
  backend,
  fakeApi,
  fakeDatabase,
  fakeDeployment,
  fakeService,
  fileWorld,
  lockRow,
  lockTable,
  openFakes,
  releaseWorld,
  running,
  stopped,
  unreachable,
} from '../fakes/index.ts'
import { assertHarmless, assertHarmlessJson, poisoned } from './poison.ts'
import type { Poisoning } from './poison.ts'

const deployment = {
  name: 'prod',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: 'UTC',
} as const
const granted = new Date(Date.now() - 60_000).toISOString().replace('T', ' ').replace('Z', '171')
const held: Parts = {
  database: [
    fakeDatabase({
      changelogLocks: [lockTable([lockRow({ locked: true, lockGranted: granted, lockedBy: 'testops-1 (10.0.0.7)' })])],
      backends: [backend({ state: 'active', query: 'CREATE INDEX i ON t (c)', startedAt: ago(61_000) })],
    }),
  ],
  api: unreachable('api'),
}
const up = { service: fakeService({ status: running(), environment: new Map([['TZ', 'x']]) }) }
const files = fileWorld({ '/srv/values.yaml': { version: '527u01', 'image.imageName': 'testops', 'env.open.TZ': 'x' } })
const inFiles: Parts = { files: files.source, release: releaseWorld().source }
const shop: Parts = { api: fakeApi({ projects: [{ id: 1, name: 'Web shop' }], trees: [{ id: 11, name: 'Features' }] }) }

/** For each repair situations in which it has something to do, or refuses, and what it is told to do. */
const situations: Readonly<Record<keyof typeof repairs, readonly { sources: Parts; options: object }[]>> = {
  'flush-sessions': [
    { sources: { ...fakeDeployment().sources }, options: { all: true } },
    { sources: { ...fakeDeployment().sources }, options: { all: false, user: 'alice' } },
  ],
  'unlock-changelog': [
    { sources: { ...held, service: fakeService({ status: stopped() }) }, options: { restart: true, schema: null } },
    { sources: { ...held, ...up }, options: { restart: true, schema: null } },
  ],
  'reset-queues': [
    { sources: { ...fakeDeployment().sources }, options: { drainMs: 0, discardMessages: false, queues: [] } },
  ],
  'migrate-trees': [
    {
      sources: shop,
      options: {
        items: [{ project: 1, tree: null }],
        allProjects: false,
        allTrees: false,
        concurrency: 4,
        wait: false,
      },
    },
  ],
  'use-legacy-image': [
    {
      sources: inFiles,
      options: { values: ['/srv/values.yaml'], build: null, revert: false, main: '/srv/values.yaml' },
    },
  ],
  'set-env': [{ sources: up, options: { settings: [{ name: 'TZ', to: 'UTC' }], restart: true, salt: 's' } }],
  'set-env-values': [
    {
      sources: inFiles,
      options: {
        settings: [{ name: 'TZ', to: 'UTC' }],
        values: ['/srv/values.yaml'],
        main: '/srv/values.yaml',
        path: [],
      },
    },
  ],
  'service-stop': [{ sources: { ...held, ...up }, options: {} }],
  'service-start': [{ sources: { ...held, service: fakeService({ status: stopped() }) }, options: {} }],
  'service-restart': [{ sources: { ...held, ...up }, options: {} }],
}

test('every repair has its situations here', () => {
  expect(Object.keys(situations)).toEqual(expect.arrayContaining(Object.keys(repairs)))
})

describe('nothing that a part says steers what is printed of the plan', () => {
  test.each(Object.keys(repairs) as (keyof typeof repairs)[])(
    '%s',
    async (name) => {
      let [planned, refused, grown] = [0, 0, 0]
      for (const { sources, options } of situations[name]) {
        const once = async (poisoning: Poisoning): Promise<string> => {
          const open = openFakes(sources)
          const hostile = Object.fromEntries(
            await Promise.all(
              Object.entries(open).map(
                async ([part, it]) =>
                  [
                    part,
                    poisoned(await (it as () => Promise<unknown>)().catch((error: unknown) => error), poisoning),
                  ] as const,
              ),
            ),
          )
          const what = `${name}, text ${poisoning.which}`
          try {
            const plan = await makePlan(
              repairs[name],
              openFakes(hostile),
              deployment,
              options as Readonly<Record<string, unknown>>,
            )
            planned += 1
            const document = documentOf(plan, { outcome: 'planned' })
            assertHarmless(what, 'all', (screen) => planText(plan, screen))
            assertHarmless(what, 'all', (screen) =>
              takeBackText(
                plan,
                plan.steps.map((_, index) => index),
                screen,
              ),
            )
            assertHarmless(what, 'all', (screen) => repairText(document, screen))
            assertHarmlessJson(what, jsonText(document), document)
            return JSON.stringify(plan)
          } catch (error) {
            if (error instanceof TypeError || error instanceof RangeError) return ''
            if (!(error instanceof AdminError)) throw error
            refused += 1
            const { code, message, suggestions } = error
            assertHarmless(what, 'all', (screen) => errorText({ error: { code, message, suggestions } }, screen))
            assertHarmlessJson(what, jsonText({ message, suggestions }), { message, suggestions })
            return message
          }
        }
        const count: Poisoning = { which: -1, met: 0 }
        const plain = await once(count)
        expect(plain, name).not.toBe('')
        for (let which = 0; which < count.met; which += 1) if ((await once({ which, met: 0 })) !== plain) grown += 1
        await once({ which: 'all', met: 0 })
      }
      expect(planned + refused).toBeGreaterThan(10)
      expect(planned, 'a plan is made').toBeGreaterThan(0)
      expect(grown, 'some of it comes into what is said').toBeGreaterThan(0)
    },
    120_000,
  )
})
