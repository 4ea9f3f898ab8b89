import { expect, test } from 'vitest'
import { AdminError } from '../../src/core/error.ts'
import type { Repair } from '../../src/core/repair.ts'
import type { SourceName } from '../../src/core/sources.ts'
import { makePlan } from '../../src/engine/plan.ts'
import { fakeBroker, openFakes, unreachable } from '../fakes/index.ts'
import { planOf } from './repairing.ts'

const deployment = {
  name: 'prod',
  platform: 'host',
  vendor: { prefix: 'VENDOR', package: 'VENDOR_PACKAGE' },
  timeZone: null,
} as const
const { repair: _, deployment: __, options: ___, ...draft } = planOf()

function repairOf(of: Partial<Repair> = {}): { repair: Repair; got: Record<string, unknown>[] } {
  const got: Record<string, unknown>[] = []
  const plan: Repair['plan'] = async (sources) => {
    got.push(sources)
    return draft
  }
  return {
    repair: { id: 'unlock-changelog', title: 'release the change-log lock', reads: [], wants: [], plan, ...of },
    got,
  }
}

test('it says whose plan it is, for which deployment, and from what it can be made again', async () => {
  const { repair } = repairOf()
  expect(await makePlan(repair, openFakes(), deployment, { restart: true, schema: null })).toEqual(planOf())
})

test('a repair gets what it reads and wants, and nothing else; what it wants may fail', async () => {
  const broker = fakeBroker()
  const { repair, got } = repairOf({ reads: ['broker'], wants: ['service', 'api'] })
  await makePlan(repair, openFakes({ broker, api: unreachable('api') }), deployment, {})
  expect(Object.keys(got[0]!).sort()).toEqual(['api', 'broker', 'service'] satisfies SourceName[])
  expect(got[0]).toMatchObject({ broker, api: { code: 'UNREACHABLE' } })
})

test('what it reads has to open', async () => {
  const { repair, got } = repairOf({ reads: ['broker'] })
  await expect(makePlan(repair, openFakes({ broker: unreachable('broker') }), deployment, {})).rejects.toBeInstanceOf(
    AdminError,
  )
  expect(got).toEqual([])
})

test('a bug in opening is no answer', async () => {
  const { repair } = repairOf({ wants: ['api'] })
  const open = { ...openFakes(), api: async () => Promise.reject(new TypeError('x is undefined')) }
  await expect(makePlan(repair, open, deployment, {})).rejects.toBeInstanceOf(TypeError)
})

test('a risk that is not registered is a bug: --accept-risk could not name it', async () => {
  const { repair } = repairOf({
    plan: async () => ({ ...draft, risks: [{ name: 'sunshine', message: 'x', proof: [] }] }),
  })
  await expect(makePlan(repair, openFakes(), deployment, {})).rejects.toThrow(
    'unlock-changelog names a risk that core/plan.ts does not list: sunshine',
  )
})
