import { beforeEach, expect, test } from 'vitest'
import type { RepairDocument } from '../../src/core/repair.ts'
import type { Pod } from '../kubernetes/resources.ts'
import { kubernetesPlace } from './kubernetes-place.ts'

const container = 'testops-testops'

const here = kubernetesPlace()
beforeEach(() => {
  // its sessions come from there
  change(own(), ({ status }) => Object.assign(status, { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] }))
})

function own(): Pod {
  return here.world.cluster.pods.find(({ metadata }) => metadata.name.startsWith(`${container}-`))!
}

function change(pod: Pod, by: (pod: Pod) => void): void {
  here.world.cluster.update('pods', pod, (it) => by(it as Pod))
}

interface Ended {
  code: number | null
  outcome: string
  said: string | null
  locked: unknown
}

async function run(...words: string[]): Promise<Ended> {
  const { exitCode, stdout } = await here.place.run([...words, '--confirm', 'prod', '--json'], {
    environment: { KUBECONFIG: here.world.kubeconfig },
  })
  const { outcome, error } = JSON.parse(stdout) as RepairDocument
  const [row] = await here.world.database.query('SELECT locked FROM databasechangeloglock WHERE id = 1')
  return { code: exitCode, outcome, said: error?.message ?? null, locked: row!['locked'] }
}

/** Locked so long before now by a JVM of the service's time zone; gives when. */
async function lockedBy(host: string, ago: string): Promise<Date> {
  const [row] = await here.world.database.query(
    `UPDATE databasechangeloglock SET locked = true, lockedby = '${host} (10.129.0.9)', lockgranted = (now() - ` +
      `interval '${ago}') AT TIME ZONE 'UTC' WHERE id = 1 RETURNING now() - interval '${ago}' AS at`,
  )
  return row!['at'] as Date
}

const released: Ended = { code: 0, outcome: 'done', said: null, locked: false }
const refused = (said: RegExp): Ended => ({
  code: 4,
  outcome: 'refused',
  said: expect.stringMatching(said) as string,
  locked: true,
})
const beside = new RegExp(
  '^cannot tell whether the holder is alive: ' +
    String.raw`another process in testops-testops-\S+ shares the service's address, and may be migrating the database`,
)

test('a lock of a pod that is gone is released while another one runs', async () => {
  await lockedBy(`${container}-7d9f8c5b6-q8zkn`, '10 minutes')
  expect(await run('unlock-changelog')).toEqual(released)
  await expect.poll(here.world.isReady, { timeout: 10_000 }).toBe(true)
})

test('a lock of a pod in which an init container still runs is refused', async () => {
  const name = `${container}-7d9f8c5b6-q8zkn`
  const { metadata, spec, status } = own()
  const starting = { state: { waiting: { reason: 'PodInitializing' } } }
  here.world.cluster.load('pods', {
    metadata: {
      name,
      namespace: 'testops',
      labels: { ...metadata.labels, 'pod-template-hash': '7d9f8c5b6' },
      uid: 'init',
    },
    spec: { ...spec },
    status: {
      ...status,
      phase: 'Pending',
      podIP: '10.129.0.10',
      podIPs: [],
      containerStatuses: [{ name: container, image: 'x', ...starting }],
      initContainerStatuses: [
        { name: 'migrate', image: 'x', state: { running: { startedAt: new Date().toISOString() } } },
      ],
    },
  })
  await lockedBy(name, '1 minute')
  expect(await run('unlock-changelog')).toEqual({
    code: 4,
    outcome: undefined,
    said: expect.stringMatching(/^no controller owns 1 instance of the service \(\S+q8zkn\)/) as string,
    locked: true,
  })
})

test('a lock of a pod that still runs is refused', async () => {
  await lockedBy(own().metadata.name, '0 seconds')
  expect(await run('unlock-changelog')).toEqual(refused(beside))
  await expect.poll(here.world.isReady, { timeout: 10_000 }).toBe(true)
})

test(
  'a lock from before the container was started again in its pod: refused while its sessions may be of another ' +
    'process there, released once it is stopped',
  async () => {
    await lockedBy(own().metadata.name, '10 minutes')
    expect(await run('unlock-changelog')).toEqual(refused(beside))
    expect((await run('service', 'stop')).outcome).toBe('done')
    expect(await run('unlock-changelog')).toEqual(released)
  },
)

test('the same is released at once where the log of the run before shows that it took the lock', async () => {
  const { name } = own().metadata
  const at = await lockedBy(name, '10 minutes')
  change(own(), ({ status }) => {
    for (const it of status.containerStatuses ?? []) it.restartCount = 1
  })
  const text =
    `${at.toISOString().replace('T', ' ').replace('Z', '')}  INFO 1 --- [           main] liquibase.lockservice  ` +
    '                  : Successfully acquired change log lock'
  here.world.cluster.logs.delete(`testops/${name}/${container}`)
  here.world.cluster.print(
    name,
    container,
    `${new Date().toISOString().replace('T', ' ').replace('Z', '')}  INFO 1 --- [           main] a.B : Started`,
  )
  here.world.cluster.print(name, container, text, { previous: true, at: at.toISOString().replace('Z', '000000Z') })
  expect(await run('unlock-changelog')).toEqual(released)
})
