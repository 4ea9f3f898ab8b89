import { expect, test } from 'vitest'
import { controllersOf } from '../../../src/platforms/compose/service.ts'
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
