import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AdminError } from '../../../src/core/error.ts'
import { findComposeProjects } from '../../../src/platforms/compose/find.ts'
import { errorOf } from '../../runtime/error-of.ts'
import { folderWith } from '../../runtime/folder.ts'
import { composeWorld, recorded } from './world.ts'
import type { Shown } from './world.ts'

const other =
  (project: string, service = 'testops', image = 'registry.example.org/qameta/testops:26.2.1') =>
  (shown: Shown): void => {
    shown.Id = project.length.toString(16).repeat(64).slice(0, 60) + service.length.toString(16).padStart(4, '0')
    Object.assign(shown.Config.Labels, { 'com.docker.compose.project': project, 'com.docker.compose.service': service })
    shown.Config.Image = image
  }
const all = async (): Promise<Shown[]> => [
  await recorded('redis'),
  await recorded('testops'),
  await recorded('autoheal'),
]

test('by the name of its image, among the containers of all projects', async () => {
  const world = await composeWorld({ containers: await all() })
  const platform = await world.open()
  const file = `${world.folder}/project/docker-compose.yml`
  expect(platform.commands).toEqual({
    start: `docker compose -p testops -f ${file} start testops`,
    stop: `docker compose -p testops -f ${file} stop testops`,
    restart: `docker compose -p testops -f ${file} restart testops`,
    status: 'docker ps --all --filter label=com.docker.compose.project=testops',
    logs: 'docker logs --tail 200 testops',
    processes: 'docker top testops',
    settings: `${file}, ${world.folder}/project/.env`,
    edit: `\${EDITOR:-vi} ${file}`,
  })
})

test('without its files, which lie elsewhere, the engine alone is what there is to type', async () => {
  const world = await composeWorld({ containers: await all() }, {})
  expect((await world.open()).commands).toMatchObject({
    start: 'docker start testops',
    settings: 'the compose file of project testops',
  })
})

test(
  'without a container yet, one is made to start it; ' + 'of a service, too, that takes a profile to be there',
  async () => {
    const world = await composeWorld(
      {},
      {
        'project/compose.yaml':
          'services:\n  web:\n    image: testops:527u01\n    profiles: [prod]\n  db: {image: "postgres:15"}\n',
      },
    )
    const platform = await world.open({ folder: `${world.folder}/project` })
    const typed = `docker compose -p project -f ${world.folder}/project/compose.yaml`
    expect(platform.commands).toMatchObject({
      start: `${typed} up -d web`,
      restart: `${typed} up -d web`,
      logs: `${typed} logs --tail 200 web`,
    })
  },
)

test('with what is laid over its file, also once it is opened as it was found', async () => {
  const world = await composeWorld(
    {},
    {
      'project/compose.yaml': 'services: {web: {image: "testops:526u01"}}\n',
      'project/compose.override.yaml': 'services: {web: {image: "testops:527u01"}}\n',
    },
  )
  const folder = `${world.folder}/project`
  const [found] = (await findComposeProjects({ ...world.options, folder })).found
  expect([found?.place, found?.what]).toEqual([
    { platform: 'compose', project: 'project', service: 'web', file: null },
    `compose project \`project\` (service web, image testops:527u01, declared in ${folder}/compose.yaml, ` +
      `${folder}/compose.override.yaml, no container yet)`,
  ])
  expect(
    (await (await (await world.open({ project: 'project', service: 'web', folder })).service()).image()).build,
  ).toBe('527u01')
})

test('of the files that COMPOSE_FILE names, in .env or in the shell, which stands above it', async () => {
  const text = (image: string): string => `services:\n  web:\n    image: ${image}\n`
  const files = {
    '.env': 'COMPOSE_FILE=base.yml:prod/over.yml\n',
    'base.yml': text('testops:526u01'),
    'prod/over.yml': text('testops:527u01'),
    'compose.yaml': text('testops:525u01'),
  }
  const world = await composeWorld(
    {},
    Object.fromEntries(Object.entries(files).map(([name, it]) => [`project/${name}`, it])),
  )
  const folder = `${world.folder}/project`
  const start = async (): Promise<string | undefined> => (await world.open({ folder })).commands?.start
  expect(await start()).toBe(`docker compose -p project -f ${folder}/base.yml -f ${folder}/prod/over.yml up -d web`)
  expect((await (await (await world.open({ folder })).service()).image()).build).toBe('527u01')
  Object.assign(world.options.environment ?? {}, { COMPOSE_FILE: 'prod/over.yml' })
  expect(await start()).toBe(`docker compose -p prod --env-file ${folder}/.env -f ${folder}/prod/over.yml up -d web`)
})

test.each([
  // with --env-file, which Compose 2 remembers
  ['compose-v2', 'running', 'docker compose -p testops --env-file ENV -f FILE stop testops'],
  ['podman', 'running', 'docker compose -p ptms -f FILE stop testops'],
] as const)('a container that was made by %s', async (name, state, stop) => {
  const world = await composeWorld({ containers: [await recorded(name)] })
  const platform = await world.open()
  const [file, dotenv] = ['docker-compose.yml', '.env'].map((it) => `${world.folder}/project/${it}`)
  expect(platform.commands?.stop).toBe(stop.replace('FILE', file!).replace('ENV', dotenv!))
  const service = await platform.service()
  const [instance] = (await service.status()).instances
  expect([(await service.status()).state, instance?.pid, instance?.host.length]).toEqual([
    state,
    expect.any(Number),
    12,
  ])
  expect(await service.image()).toMatchObject({ name: 'testops', build: '527u01' })
})

test.each([
  ['registry:5000/a/testops:1', true],
  ['testops-legacy@sha256:0123456789abcdef', true],
  ['testops', true],
  ['registry.example.org/testops/report:1', false],
  ['registry.example.org/qameta/testops-admin:1', false],
])('the image %s is the product: %s', async (image, isFound) => {
  const world = await composeWorld({ containers: [await recorded('testops', other('a', 'web', image))] }, {})
  const found = await (await world.open()).service().then(
    async (it) => (await it.image()).name,
    (error: AdminError) => error.code,
  )
  expect(found).toBe(isFound ? image.split('/').at(-1)!.split(/[:@]/)[0] : 'UNAVAILABLE')
})

test('one that is only in the compose file here, or above, was never started', async () => {
  const world = await composeWorld()
  for (const folder of ['project', 'project/deeper/still']) {
    const service = await (await world.open({ folder: `${world.folder}/${folder}` })).service()
    expect(await service.status()).toEqual({ state: 'stopped', detail: 'it has no container', instances: [] })
    expect(await service.image()).toEqual({
      name: 'testops',
      tag: '26.2.1',
      build: null,
      declaredIn: `${world.folder}/project/docker-compose.yml`,
      service: 'testops',
      files: [`${world.folder}/project/docker-compose.yml`],
    })
    expect((await service.environment()).get('SPRING_RABBITMQ_HOST')).toBe('rabbitmq')
  }
})

test('two are named, with what to write into the configuration', async () => {
  const containers = [await recorded('testops'), await recorded('stopped', other('staging'))]
  const world = await composeWorld({ containers }, {})
  const error = await (await world.open()).service().then(
    () => null,
    (thrown: unknown) => thrown as AdminError,
  )
  expect([error?.code, error?.message, error?.suggestions]).toEqual([
    'CONFIGURATION',
    'several compose services run the product: service `testops` of project `testops` (image ' +
      '`registry.example.org/qameta/testops:26.2.1`), service `testops` of project `staging` (image ' +
      '`registry.example.org/qameta/testops:26.2.1`). Set the right one in the configuration',
    ['compose: {project: testops}   # in the configuration', 'compose: {project: staging}   # in the configuration'],
  ])
  const chosen = await world.open({ project: 'staging' })
  expect((await (await chosen.service()).status()).state).toBe('stopped')
})

test('two of one project are told apart by their service', async () => {
  const containers = [await recorded('testops'), await recorded('stopped', other('testops', 'old'))]
  const world = await composeWorld({ containers }, {})
  const error = await (await world.open()).service().then(
    () => null,
    (thrown: unknown) => thrown as AdminError,
  )
  expect(error?.suggestions).toEqual([
    'compose: {project: testops, service: testops}   # in the configuration',
    'compose: {project: testops, service: old}   # in the configuration',
  ])
  expect((await (await (await world.open({ service: 'old' })).service()).status()).state).toBe('stopped')
})

test('containers of `compose run` are none of the service', async () => {
  const once = await recorded('testops', (shown) => {
    other('testops')(shown)
    shown.Config.Labels['com.docker.compose.oneoff'] = 'True'
  })
  const world = await composeWorld({ containers: [once] }, {})
  expect(await errorOf((await world.open()).service())).toMatch(/^UNAVAILABLE: no docker container has the image/)
})

test('none is told with what was looked at', async () => {
  const world = await composeWorld({ containers: [await recorded('redis')] }, {})
  const nowhere = 'No compose file in'
  expect(await errorOf((await world.open()).service())).toBe(
    `UNAVAILABLE: no docker container has the image \`testops\` or \`testops-legacy\`. ${nowhere} ` +
      `${world.folder}/elsewhere or a folder above it declares this image`,
  )
  expect(await errorOf((await world.open({ project: 'prod', service: 'web' })).service())).toBe(
    `UNAVAILABLE: no docker container of compose project \`prod\` has the service name \`web\`. ${nowhere} ` +
      `${world.folder}/elsewhere or a folder above it declares this service`,
  )
  expect((await world.open()).commands).toBeNull()
})

const socket =
  'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get ' +
  '"http://%2Fvar%2Frun%2Fdocker.sock/v1.24/containers/json": dial unix /var/run/docker.sock: connect: ' +
  'permission denied'
test.each([
  [
    {
      text: 'Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
      code: 1,
    },
    'UNAVAILABLE: docker is installed, but its engine does not answer: `docker` exited with 1: Cannot connect ' +
      'to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?',
  ],
  [{ text: socket, code: 1 }, 'FORBIDDEN: the socket of docker denies access to this user'],
  [
    { text: 'unknown flag: --quiet', code: 125 },
    'UNEXPECTED_ANSWER: `docker ps --all --quiet --no-trunc --filter label=com.docker.compose.project` exited ' +
      'with 125: unknown flag: --quiet',
  ],
])('an engine that says %j', async (failure, message) => {
  const world = await composeWorld({ failure }, {})
  for (const ask of ['service', 'environment', 'control', 'log'] as const)
    expect(await errorOf((await world.open())[ask]())).toBe(message)
})

test('docker-compose, where docker has no such plugin; podman, where there is no docker', async () => {
  const world = await composeWorld({ containers: [await recorded('testops')], withoutCompose: true })
  const bin = join(world.folder, 'bin')
  const docker = await readFile(join(bin, 'docker'), 'utf8')
  expect(await errorOf((await world.open()).service())).toBe(
    'UNAVAILABLE: neither `docker compose` nor `docker-compose` is installed on this machine',
  )
  await writeFile(join(bin, 'docker-compose'), '#!/bin/sh\n', { mode: 0o700 })
  expect((await world.open()).commands?.stop).toMatch(/^docker-compose -p testops -f \S+ stop testops$/)
  await rm(join(bin, 'docker'))
  await writeFile(join(bin, 'podman'), docker, { mode: 0o700 })
  await writeFile(join(bin, 'podman-compose'), '#!/bin/sh\n', { mode: 0o700 })
  const platform = await world.open()
  expect([platform.commands?.stop, platform.commands?.logs]).toEqual([
    expect.stringMatching(/^podman-compose -p testops -f \S+ stop testops$/),
    'podman logs --tail 200 testops',
  ])
  expect((await (await platform.service()).status()).state).toBe('running')
})

test('no engine at all', async () => {
  const folder = await folderWith({})
  const { openCompose } = await import('../../../src/platforms/compose/index.ts')
  const platform = await openCompose(
    { project: null, file: null, service: null, build: null, cpuinfo: null, folder },
    { timeoutMs: 1000, environment: { PATH: folder } },
  )
  expect(await errorOf(platform.service())).toBe('UNAVAILABLE: neither docker nor podman is installed on this machine')
})

test('an engine that never answers is given up', async () => {
  const folder = await folderWith({ docker: '#!/bin/sh\nexec sleep 60\n' })
  const { openCompose } = await import('../../../src/platforms/compose/index.ts')
  const platform = await openCompose(
    { project: null, file: null, service: null, build: null, cpuinfo: null, folder },
    { timeoutMs: 200, environment: { PATH: `${folder}:/bin` } },
  )
  expect(await errorOf(platform.service())).toBe(
    'TIMED_OUT: `docker ps --all --quiet --no-trunc --filter label=com.docker.compose.project` did not finish ' +
      'within 0.2 s',
  )
})

test('what cannot be found at first is looked for again', async () => {
  const world = await composeWorld({}, {})
  const platform = await world.open()
  expect(await errorOf(platform.service())).toMatch(/^UNAVAILABLE/)
  world.state.containers = [await recorded('testops')]
  expect((await (await platform.service()).status()).state).toBe('running')
})
