import { expect, test } from 'vitest'
import { followed } from '../followed.ts'
import type { Followed } from '../followed.ts'
import { Printed } from './fake-logs.ts'
import { composeWorld, recorded } from './world.ts'
import type { ComposeWorld } from './world.ts'

const timeout = 20_000
const at = (second: number, fraction = ''): string => `2026-11-22T05:25:0${second}.${fraction.padEnd(9, '0')}Z`

async function following(
  since?: Date,
): Promise<Followed & { world: ComposeWorld; printed: Printed; id: string; open: (count: number) => Promise<void> }> {
  const printed = new Printed()
  const container = await recorded('testops')
  const world = await composeWorld({ containers: [container], printed })
  printed.print(container.Id, 'old', at(1))
  const it = followed(await (await world.open()).log(), { named: true, ...(since && { since }) })
  const open = async (count: number): Promise<void> => expect.poll(() => printed.followers, { timeout }).toBe(count)
  await open(1)
  return { ...it, world, printed, id: container.Id, open }
}

test('a container is followed from now on, and no program is left', async () => {
  const { lines, printed, id, world, stop, ended, open } = await following()
  printed.print(id, 'one')
  printed.print(id, '  two')
  await expect.poll(() => lines, { timeout }).toEqual(['testops: one', 'testops:   two'])
  expect(world.asked).toContain(`logs --follow --timestamps --tail 0 ${id}`)
  stop.abort()
  expect(await ended).toBe(null)
  // its end closes its connection
  await open(0)
})

test('an engine that goes away is gone on with where it was', async () => {
  const { lines, printed, id, world, open } = await following(new Date(at(2)))
  printed.print(id, 'one', at(2))
  printed.print(id, 'two', at(3, '5'))
  await expect.poll(() => lines, { timeout }).toEqual(['testops: one', 'testops: two'])
  world.state.failure = {
    text: 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
    code: 1,
  }
  printed.breakOff()
  printed.print(id, 'three', at(3, '5'))
  printed.print(id, 'four', at(3, '500000001'))
  await open(0)
  delete world.state.failure
  await expect
    .poll(() => lines, { timeout })
    .toEqual(['testops: one', 'testops: two', 'testops: three', 'testops: four'])
  expect(world.asked).toContain(`logs --follow --timestamps --since 2026-11-22T05:25:03Z ${id}`)
}, 60_000)

test('a container that is started again, or made anew, is found again', async () => {
  const { lines, printed, id, world, open } = await following()
  const [container] = world.state.containers
  container!.State['Status'] = 'exited'
  printed.print(id, 'ending')
  await expect.poll(() => lines, { timeout }).toEqual(['testops: ending'])
  printed.end(id)
  await open(0)
  printed.print(id, 'started again')
  Object.assign(container!.State, { Status: 'running', StartedAt: '2026-11-22T06:00:00.000000000Z' })
  await open(1)
  await expect.poll(() => lines, { timeout }).toEqual(['testops: ending', 'testops: started again'])
  const anew = await recorded('testops', (it) => void (it.Id = 'f'.repeat(64)))
  world.state.containers.splice(0, 1, anew)
  printed.end(id)
  printed.print(anew.Id, 'made anew')
  await expect
    .poll(() => lines, { timeout })
    .toEqual(['testops: ending', 'testops: started again', 'testops: made anew'])
}, 60_000)
