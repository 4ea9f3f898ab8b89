import { expect, test } from 'vitest'
import { containerIn } from '../../../src/platforms/compose/containers.ts'
import { controllersOf, startLimitOf } from '../../../src/platforms/compose/service.ts'
import { composeWorld, recorded, recordedContainer } from './world.ts'

const heal = { name: 'autoheal (container `autoheal`)', paused: false, pause: ['docker stop autoheal'] }
const always = {
  name: 'restart policy `always` (container `testops`)',
  paused: true,
  pause: ['docker update --restart unless-stopped testops'],
}

test('autoheal that watches it, and the restart policy', async () => {
  const own = await recordedContainer('testops')
  expect(controllersOf([own], [own, await recordedContainer('autoheal')], 'docker')).toEqual([heal, always])
})

test.each([
  ['that is stopped', { status: 'exited' }, {}],
  ['that watches another label', {}, { environment: ['AUTOHEAL_CONTAINER_LABEL=other'] }],
])('autoheal %s', async (_, state, more) => {
  const own = { ...(await recordedContainer('testops')), restartPolicy: 'unless-stopped' }
  const healer = await recordedContainer('autoheal')
  expect(controllersOf([own], [own, { ...healer, ...more, state: { ...healer.state, ...state } }], 'docker')).toEqual(
    [],
  )
})

test('autoheal that watches all', async () => {
  const own = { ...(await recordedContainer('testops')), labels: {}, restartPolicy: '' }
  const healer = { ...(await recordedContainer('autoheal')), environment: ['AUTOHEAL_CONTAINER_LABEL=all'] }
  expect(controllersOf([own], [own, healer], 'docker')).toEqual([heal])
})

test('as checks see them', async () => {
  const world = await composeWorld({ containers: [await recorded('testops'), await recorded('autoheal')] })
  expect(await (await (await world.open()).service()).controllers()).toEqual([heal, always])
})

const second = 1e9
const withCheck = async (check: object | undefined) => {
  const shown = (await recorded('testops')) as { Config: object }
  return containerIn({ ...shown, Config: { ...shown.Config, Healthcheck: check } })!
}

test.each([
  ['its own times', { Test: ['CMD', 'x'], StartPeriod: 60 * second, Interval: 10 * second, Retries: 6 }, 120_000],
  ["the engine's defaults", { Test: ['CMD-SHELL', 'x'], Interval: 0 }, 90_000],
])('a start may take as long as a health check with %s gives it, if autoheal watches', async (_, check, afterMs) => {
  const own = await withCheck(check)
  expect(startLimitOf([own], [own, await recordedContainer('autoheal')], 'docker')).toEqual({
    by: 'autoheal',
    afterMs,
    proof: "docker inspect -f '{{json .Config.Healthcheck}}' testops",
  })
  expect(startLimitOf([own], [own], 'docker')).toBeNull()
})

test.each([[undefined], [{ Test: ['NONE'] }], [{ Test: [] }]])(
  'without a health check (%j), nothing ends a start',
  async (check) => {
    const own = await withCheck(check)
    expect(startLimitOf([own], [own, await recordedContainer('autoheal')], 'docker')).toBeNull()
  },
)
