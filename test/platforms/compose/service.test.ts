import { expect, test } from 'vitest'
import { Secret } from '../../../src/core/secret.ts'
import { errorOf } from '../../runtime/error-of.ts'
import { v3Flags } from '../../fakes/index.ts'
import { composeWorld, projectFiles, recorded } from './world.ts'
import type { Shown } from './world.ts'

test('the settings of the container, secrets as such', async () => {
  const world = await composeWorld({ containers: [await recorded('testops')] }, {})
  const environment = await (await world.open()).environment()
  const clear = [...environment].map(([name, value]) => [
    name,
    value instanceof Secret ? `secret ${value.reveal().length}` : value,
  ])
  expect(Object.fromEntries(clear)).toEqual({
    SPRING_PROFILES_ACTIVE: 'compose,rabbitmq',
    SPRING_DATASOURCE_URL: 'jdbc:postgresql://db.example.org:5432/testops',
    SPRING_DATASOURCE_USERNAME: 'testops',
    SPRING_DATASOURCE_PASSWORD: 'secret 9',
    SPRING_RABBITMQ_HOST: 'rabbitmq',
    SPRING_RABBITMQ_PORT: '5672',
    SPRING_RABBITMQ_USERNAME: 'testops',
    SPRING_RABBITMQ_PASSWORD: 'secret 13',
    SPRING_DATA_REDIS_HOST: 'redis',
    SPRING_DATA_REDIS_PORT: '6379',
    SPRING_DATA_REDIS_PASSWORD: 'secret 12',
    ALLURE_JWT_ACCESS_TOKEN_VALIDITY_SECONDS: '3600',
    TZ: 'Europe/Berlin',
  })
})

test('what its files declare since stands above, and is told as not in effect yet', async () => {
  const files = await projectFiles()
  files['project/.env'] = files['project/.env']!.replace('Europe/Berlin', 'UTC')
  const world = await composeWorld({ containers: [await recorded('testops')] }, files)
  const service = await (await world.open()).service()
  expect((await service.environment()).get('TZ')).toBe('UTC')
  expect((await service.status()).detail).toBe(
    'container testops: running, healthy, since 2026-11-22 05:37:09Z; the container and the ' +
      'compose files have different values for TZ: stop and start the service to apply the values from the files',
  )
})

test('files that are no longer valid say nothing of what runs', async () => {
  const world = await composeWorld(
    { containers: [await recorded('testops')] },
    { 'project/docker-compose.yml': 'services: [\n' },
  )
  const service = await (await world.open()).service()
  expect((await service.environment()).get('TZ')).toBe('Europe/Berlin')
  expect((await service.status()).state).toBe('running')
})

test('the processors of the engine that is here are this machine', async () => {
  const world = await composeWorld({ containers: [await recorded('testops')] })
  const [machine] = await (await (await world.open()).service()).machines()
  expect(machine?.processors.length).toBeGreaterThan(0)
  expect(world.asked).not.toContain('exec testops cat /proc/cpuinfo')
})

test('those of another are asked for in a container that runs', async () => {
  const exec = { 'cat /proc/cpuinfo': { stdout: `flags : ${v3Flags.join(' ')}\n` } }
  const world = await composeWorld({ containers: [await recorded('testops')], machine: 'docker-desktop', exec })
  expect(await (await (await world.open()).service()).machines()).toEqual([
    { name: 'docker-desktop', architecture: 'x86_64', processors: [[...v3Flags]], hypervisor: null },
  ])
  const stopped = await composeWorld({ containers: [await recorded('stopped')], machine: 'docker-desktop' })
  expect(await errorOf((await (await stopped.open()).service()).machines())).toBe(
    "UNAVAILABLE: cannot read the processor's flags: docker runs on another machine, and the service has no " +
      'running container',
  )
})

test.each<[string, Parameters<typeof recorded>[0], boolean | null]>([
  ['known', 'testops', true],
  ['unknown', 'testops', false],
  ['without-tool', 'testops', null],
  ['known', 'stopped', null],
])('the name %s where the service is %s: %s', async (host, container, answer) => {
  const exec = { 'getent hosts known': { stdout: '10.0.0.1 known\n' }, 'getent hosts unknown': { code: 2 } }
  const world = await composeWorld({ containers: [await recorded(container)], exec })
  expect(await (await (await world.open()).service()).resolve(host)).toBe(answer)
})

test('both streams of the log come together by time, and the newest is what is kept', async () => {
  const line = (second: number, text: string): string => `2026-11-22T05:25:0${second}.661054151Z ${text}\n`
  const logs = {
    testops: {
      stdout: line(1, 'one') + line(3, '  three') + line(5, 'five'),
      stderr: line(2, 'Fatal glibc error: CPU does not support x86-64-v3'),
    },
  }
  const world = await composeWorld({ containers: [await recorded('testops')], logs })
  const log = await (await world.open()).log()
  expect(await log.newest({ maxBytes: 1000 })).toEqual({
    complete: true,
    text: 'one\nFatal glibc error: CPU does not support x86-64-v3\n  three\nfive\n',
  })
  expect(await log.newest({ maxBytes: 90 })).toEqual({ complete: false, text: '  three\nfive\n' })
  expect(world.asked).toContain('logs --timestamps --tail 50000 testops')
})

test(
  'all of the log: a stream for each container that has begun, ' + 'both of its outputs as the engine gives them',
  async () => {
    const [one, never] = [
      await recorded('testops'),
      await recorded('testops', (it) =>
        Object.assign(it, {
          Id: 'f'.repeat(64),
          Name: '/testops-2',
          State: { Status: 'created', StartedAt: '0001-01-01T00:00:00Z' },
        }),
      ),
    ]
    const world = await composeWorld({
      containers: [one, never],
      logs: { [one.Id]: { stdout: 'one\n  two\n', stderr: 'Fatal\n' } },
    })
    const parts = await (await (await world.open()).log()).parts({ since: new Date('2026-11-22T05:25:00.500Z') })
    expect(parts.map(({ name }) => name)).toEqual(['testops'])
    const read = async (): Promise<string> => {
      const all: Uint8Array[] = []
      for await (const block of parts[0]!.blocks()) all.push(block)
      return Buffer.concat(all).toString()
    }
    expect((await read()).split('\n').toSorted()).toEqual(['', '  two', 'Fatal', 'one'])
    expect(world.asked).toContain(`logs --timestamps --since 2026-11-22T05:25:00Z ${one.Id}`)
    world.state.failure = { text: 'permission denied while trying to connect to the Docker daemon socket', code: 1 }
    expect(await errorOf(read())).toBe('FORBIDDEN: the socket of docker denies access to this user')
  },
)

test('a service that was never started has no log', async () => {
  const world = await composeWorld()
  const log = await (await world.open({ folder: `${world.folder}/project` })).log()
  expect(await errorOf(log.newest({ maxBytes: 100 }))).toBe(
    'UNAVAILABLE: the service has no container, so it has no log',
  )
  expect(await errorOf(log.parts({}))).toBe('UNAVAILABLE: the service has no container, so it has no log')
  // so it follows from whatever took the container away
  await expect(log.newest({ maxBytes: 100 })).rejects.toMatchObject({ obstacle: { kind: 'instances' } })
})

test('settings that its files declare otherwise than its container has them', async () => {
  const files = await projectFiles()
  files['project/.env'] = files['project/.env']!.replace('Europe/Berlin', 'UTC')
  const world = await composeWorld({ containers: [await recorded('testops')] }, files)
  const service = await (await world.open()).service()
  expect(await service.drift()).toEqual({
    declaredIn: `${world.folder}/project/docker-compose.yml, ${world.folder}/project/.env`,
    shown: "docker inspect -f '{{json .Config.Env}}' testops",
    settings: [{ name: 'TZ', declared: 'UTC', runs: 'Europe/Berlin' }],
  })
  const stopped = await composeWorld({ containers: [await recorded('stopped')] }, files)
  expect(await errorOf((await (await stopped.open()).service()).drift())).toBe(
    'NOT_CONFIGURED: the service has no running container',
  )
})

test('how its containers fare', async () => {
  const fares = async (
    name: Parameters<typeof recorded>[0],
    change?: Parameters<typeof recorded>[1],
  ): Promise<unknown> => {
    const { wanted, instances, said } = await (
      await (await composeWorld({ containers: [await recorded(name, change)] })).open()
    )
      .service()
      .then(async (it) => it.health())
    return { wanted, said, ...instances[0]! }
  }
  expect(await fares('testops')).toMatchObject({
    wanted: 1,
    said: [],
    isUp: true,
    isReady: true,
    ended: null,
    restarts: 0,
  })
  const unhealthy = await fares(
    'testops',
    ({ State }) =>
      void (State['Health'] = {
        Status: 'unhealthy',
        Log: [{ Output: 'curl: (22) The requested URL returned error: 503\n' }],
      }),
  )
  expect(unhealthy).toMatchObject({
    isUp: true,
    isReady: false,
    said: ["docker inspect -f '{{json .State.Health}}' testops", 'curl: (22) The requested URL returned error: 503'],
  })
  expect(await fares('out-of-memory')).toMatchObject({ isUp: false, ended: { reason: 'OOMKilled' } })
  expect(await fares('exited')).toMatchObject({
    isUp: false,
    ended: { reason: '', exitCode: expect.any(Number) as number, at: expect.any(Date) as Date },
  })
  expect(await fares('stopped')).toMatchObject({ isUp: false, ended: null })
})

test.each([
  ['running', 'own', false],
  ['exited', 'own', true],
  ['restarting', 'own', true],
  ['paused', 'own', false],
  ['exited', 'another', false],
] as const)('a container that is %s has ended for its %s host name: %s', async (status, whose, expected) => {
  const container = await recorded('testops')
  container['State']['Status'] = status
  const { service } = await composeWorld({ containers: [container] }).then(async (world) => ({
    service: await (await world.open()).service(),
  }))
  const hostname = (container['Config'] as { Hostname: string }).Hostname
  expect(await service.hasEnded(whose === 'own' ? hostname : '0123456789ab')).toBe(expected)
})

test('a container has not ended where another one that runs has its host name', async () => {
  const container = await recorded('testops', ({ State, Config }) => {
    State['Status'] = 'exited'
    Config.Hostname = 'testops'
  })
  // of `docker compose run`, or of another project
  const other = await recorded('redis', ({ State, Config }) => {
    State['Status'] = 'running'
    Config.Hostname = 'testops'
    Config.Labels['com.docker.compose.oneoff'] = 'True'
  })
  const ended = async (containers: (typeof container)[]): Promise<boolean> =>
    (await (await (await composeWorld({ containers })).open()).service()).hasEnded('testops')
  expect([await ended([container]), await ended([container, other])]).toEqual([true, false])
})

test('its address is shared with whoever is in its network, or runs a program in it', async () => {
  const sharing = async (change: (own: Shown, other: Shown) => void): Promise<boolean[] | undefined> => {
    const [own, other] = await Promise.all([recorded('testops'), recorded('redis')])
    for (const { State } of [own, other]) State['Status'] = 'running'
    other.Config.Labels = {}
    change(own, other)
    const service = await (await (await composeWorld({ containers: [own, other] })).open()).service()
    return (await service.origins())?.map(({ shared }) => shared === true)
  }
  expect(await sharing(() => undefined)).toEqual([false])
  expect(await sharing((own) => void (own.ExecIDs = ['4f2a']))).toEqual([true])
  expect(await sharing((own, { HostConfig }) => void (HostConfig.NetworkMode = `container:${own.Id}`))).toEqual([true])
  expect(
    await sharing((own, { HostConfig, State }) => {
      HostConfig.NetworkMode = `container:${own.Id}`
      State['Status'] = 'exited'
    }),
  ).toEqual([false])
  expect(await sharing(({ HostConfig }) => void (HostConfig.NetworkMode = 'service:proxy'))).toBe(undefined)
})
