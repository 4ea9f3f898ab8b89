import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { RepairDocument } from '../../src/core/repair.ts'
import { composeProject } from './compose-world.ts'
import type { ComposeProject } from './compose-world.ts'
import { freshPlace } from './program.ts'
import type { Place } from './program.ts'

let project: ComposeProject
let place: Place
beforeEach(async () => {
  place = await freshPlace()
  project = await composeProject()
  // its sessions come from there
  own().NetworkSettings.Networks['testops_testops-net']!.IPAddress = '127.0.0.1'
})
afterEach(async () => {
  await project.close()
  await place.remove()
})

type Shown = ComposeProject['world']['state']['containers'][number]

function own(): Shown {
  return project.world.state.containers.find(({ Name }) => Name === '/testops')!
}

interface Ended {
  code: number | null
  outcome: string
  said: string | null
  locked: unknown
}

async function run(...words: string[]): Promise<Ended> {
  const { exitCode, stdout } = await place.run([...words, '--confirm', 'testops', '--json'], {
    environment: { PATH: join(project.world.folder, 'bin') },
  })
  const { outcome, error } = JSON.parse(stdout) as RepairDocument
  const [row] = await project.database
    .query("SELECT to_regclass('databasechangeloglock') IS NOT NULL AS made")
    .then(async ([it]) =>
      it!['made'] === true ? project.database.query('SELECT locked FROM databasechangeloglock WHERE id = 1') : [],
    )
  return { code: exitCode, outcome, said: error?.message ?? null, locked: row?.['locked'] ?? null }
}

/** Locked so many minutes ago by a JVM of the service's time zone. */
async function lockedBy(host: string, minutes: number): Promise<void> {
  await project.database.query(
    `UPDATE databasechangeloglock SET locked = true, lockedby = '${host} (172.18.0.3)', lockgranted = (now() - ` +
      `interval '${minutes} minutes') AT TIME ZONE 'UTC' WHERE id = 1`,
  )
}

const released: Ended = { code: 0, outcome: 'done', said: null, locked: false }
const refused = (said: RegExp): Ended => ({
  code: 4,
  outcome: 'refused',
  said: expect.stringMatching(said) as string,
  locked: true,
})

test(
  'a lock of a container that was started again since is released, unless somebody runs a program in it, or ' +
    'shares its network',
  async () => {
    await run('service', 'start')
    await lockedBy(own().Config.Hostname, 10)
    own().ExecIDs = ['4f2a']
    expect(await run('unlock-changelog')).toEqual(
      refused(
        new RegExp(
          '^cannot tell whether the holder is alive: ' +
            String.raw`another process in \w{12} shares the service's address, and may be migrating the database`,
        ),
      ),
    )
    own().ExecIDs = null
    const redis = project.world.state.containers.find(({ Name }) => Name === '/redis')!
    const before = redis.HostConfig.NetworkMode
    redis.HostConfig.NetworkMode = `container:${own().Id}`
    expect(await run('unlock-changelog')).toEqual(
      refused(/shares the service's address, and may be migrating the database/),
    )
    redis.HostConfig.NetworkMode = before
    expect(await run('unlock-changelog')).toEqual(released)
    expect(own().State['Status']).toBe('running')
  },
)

test('a lock of a container that is stopped is released, and the container is started', async () => {
  await run('service', 'start')
  await lockedBy(own().Config.Hostname, 10)
  await run('service', 'stop')
  expect(await run('unlock-changelog')).toEqual(released)
})

test('a lock that was taken in the container after its start, and one of another container, are refused', async () => {
  await run('service', 'start')
  await lockedBy(own().Config.Hostname, 0)
  expect(await run('unlock-changelog')).toEqual(refused(/another process may be migrating/))
  await lockedBy('1a79b513f312', 10)
  expect(await run('unlock-changelog')).toEqual(
    refused(/1a79b513f312, the host named in the lock, is not an instance of the service/),
  )
  expect(own().State['Status']).toBe('running')
})

test('a container in the network of another has no address of its own: its sessions may be anybody’s', async () => {
  await run('service', 'start')
  await lockedBy(own().Config.Hostname, 10)
  own().HostConfig.NetworkMode = 'service:proxy'
  expect(await run('unlock-changelog')).toEqual(
    refused(
      /an open database session may belong to the lock holder: .*cannot see from this machine which process opened it/,
    ),
  )
})
